"""Requests and answers are what docs/protocol.md says."""

import json
import re
import unittest

import zmq
from phsicd import OPEN, SMALL, SOURCE, Case, Subscriber, floats, pairs_of

DOCUMENT = (SOURCE / "docs" / "protocol.md").read_text()


def examples(document):
    """The indented blocks, as lists of lines."""
    document = re.sub(r"```.*?```", "", document, flags=re.DOTALL)  # examples_test.py runs those
    blocks, block = [], []
    for line in document.splitlines() + [""]:
        if line.startswith("    "):
            block.append(line[4:])
        elif block:
            blocks.append(block)
            block = []
    return blocks


def objects(block):
    """The JSON objects of a block; what is left out in the document is left out here."""
    text = re.sub(r"<[^>]*>", "", "\n".join(block))
    text = re.sub(r",?\s*\.\.\.", "", text)
    found, place = [], 0
    while (place := text.find("{", place)) >= 0:
        value, place = json.JSONDecoder().raw_decode(text, place)
        found.append(value)
    return found


EXAMPLES = [objects(block) for block in examples(DOCUMENT) if "{" in block[0] or "/" in block[0]]
REQUESTS = [example for example in EXAMPLES if example and "op" in example[0]]


def table(title):
    """The names in the first column of the table whose header begins with `title`."""
    rows = DOCUMENT.split(f"\n| {title} | |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    return [name for row in rows for name in re.findall(r"`([^`]*)`", row.split("|")[1])]


PAIRS = pairs_of(1500)
GOOD, OTHER = PAIRS[-1], PAIRS[-2]
VECTORS = {"encoder": "vectors:dim=3", "refresh-after": "never"}


class OneStream(Case):
    @classmethod
    def setUpClass(cls):
        cls.d = cls.shared_daemon(tcp=True, state=True)
        cls.d.own.learn(PAIRS[:-2])
        cls.d.ask("refresh")

    def setUp(self):
        self.client = self.d.client()

    def test_a_score_comes_with_percentile_p_value_and_model(self):
        answer = self.client.ask("score", stream="chat", pairs=[GOOD, [GOOD[0], OTHER[1]]])
        self.assertEqual(set(answer), {"ok", "scores", "percentiles", "p_values", "decisions", "reasons",
                                       "model", "epoch"})
        for name in ("scores", "percentiles", "p_values", "decisions", "reasons"):
            self.assertEqual(len(answer[name]), 2)
        self.assertGreater(answer["scores"][0], answer["scores"][1])
        self.assertGreaterEqual(answer["percentiles"][0], answer["percentiles"][1])
        self.assertLessEqual(answer["p_values"][0], answer["p_values"][1])
        self.assertEqual(answer["model"], self.d.stats("chat")["model"])

    def test_a_request_without_pairs_has_an_answer_without_scores(self):
        self.assertEqual(self.client.ask("score", pairs=[])["scores"], [])
        self.assertEqual(self.client.ask("learn", pairs=[], wait=True)["learned"], 0)
        answer = self.client.ask("rank", x="a", candidates=[])
        self.assertEqual((answer["scores"], answer["ranking"]), ([], []))

    def test_scoring_does_not_teach_unless_told_to(self):
        before = self.d.stats("chat")["pairs"]
        self.client.ask("score", pairs=[GOOD])
        self.client.ask("score", pairs=[GOOD], learn=False)
        self.assertEqual(self.d.stats("chat")["pairs"], before)
        for op, more in (("score", {"learn": True}), ("score-and-learn", {}), ("learn", {})):
            answer = self.client.ask(op, pairs=[GOOD, OTHER], wait=True, **more)
            self.assertEqual(answer["learned"], 2)
            self.assertGreater(answer["room"], 0)
            self.assertEqual("scores" in answer, op != "learn")
            before += 2
            self.assertEqual(self.d.stats("chat")["pairs"], before)

    def test_ids_come_back_as_they_were(self):
        for number in ("", "x" * 256, "\"\\\n\u0000é😀", 0, -1, 2**63 - 1, -2**63):
            self.assertEqual(self.client.raw({"op": "ping", "id": number})["id"], number)
            self.assertEqual(self.client.raw({"op": "sing", "id": number})["id"], number)
            answer = self.client.raw({"op": "score", "id": number, "pairs": [GOOD]})
            self.assertEqual(answer["id"], number)
        self.assertNotIn("id", self.client.raw({"op": "ping"}))
        for bad in ("x" * 257, 1.5, None, True, [], {}, 2**64):
            self.assertEqual(self.client.error({"op": "ping", "id": bad}), "bad_request")

    def test_a_req_socket_is_served(self):
        client = self.d.client(zmq.REQ)
        for _ in range(3):
            self.assertEqual(len(client.ask("score", pairs=[GOOD])["scores"]), 1)
            self.assertEqual(client.error({"op": "score"}), "bad_request")

    def test_a_dealer_need_not_wait(self):
        for number in range(500):
            self.client.send({"op": "score", "id": number, "pairs": [PAIRS[number]]})
        answers = [self.client.receive() for _ in range(500)]
        self.assertEqual(sorted(answer["id"] for answer in answers), list(range(500)))
        by_id = {answer["id"]: answer["scores"] for answer in answers}
        alone = self.client.ask("score", pairs=PAIRS[:500])["scores"]
        for number in range(500):
            self.assertAlmostEqual(by_id[number][0], alone[number], 4)

    def test_tcp_and_ipc_give_the_same_answers(self):
        self.assertEqual(self.d.endpoints["ingest"], [self.d.ingest])
        self.assertEqual(self.d.endpoints["feed"], [self.d.feed])
        ipc, tcp = self.d.endpoints["service"]
        self.assertEqual(ipc, self.d.service)
        self.assertRegex(tcp, r"^tcp://127\.0\.0\.1:[0-9]+$")
        request = {"op": "score", "pairs": PAIRS[:300]}
        self.assertEqual(self.d.client(endpoint=tcp).raw(request), self.client.raw(request))

    def test_ranking_is_by_score_and_ties_keep_their_order(self):
        answer = self.client.ask("rank", x=GOOD[0], candidates=[OTHER[1], GOOD[1], OTHER[1]])
        self.assertEqual(answer["ranking"], [1, 0, 2])
        self.assertEqual(answer["scores"][0], answer["scores"][2])
        alone = self.client.ask("score", pairs=[GOOD])["scores"]
        self.assertAlmostEqual(answer["scores"][1], alone[0], 4)
        self.assertEqual(set(answer), {"ok", "scores", "ranking", "model", "epoch"})

    def test_an_explanation_names_learned_pairs(self):
        answer = self.client.ask("explain", pairs=[GOOD], top=3)
        self.assertEqual(set(answer), {"ok", "percentile", "p_value", "decision", "reason", "score",
                                       "rest", "model", "epoch", "words", "raise", "lower"})
        self.assertAlmostEqual(answer["score"],
                               self.client.ask("score", pairs=[GOOD])["scores"][0], 4)
        self.assertEqual((len(answer["raise"]), len(answer["lower"])), (3, 3))
        for part in answer["raise"] + answer["lower"]:
            self.assertEqual(set(part), {"contribution", "x", "y", "number"})
            self.assertIn([part["x"], part["y"]], PAIRS)
        raises = [part["contribution"] for part in answer["raise"]]
        self.assertEqual(raises, sorted(raises, reverse=True))
        self.assertGreater(raises[-1], 0)
        self.assertLess(answer["lower"][0]["contribution"], 0)
        for text, side in zip(GOOD, (answer["words"]["x"], answer["words"]["y"])):
            self.assertEqual(side["count"], len(text.split()))
            self.assertNotIn("unexamined", side)
            for part in side["raise"] + side["lower"]:
                self.assertEqual(part["word"], text.split()[part["place"]])
        self.assertEqual(len(self.client.ask("explain", pairs=[GOOD])["raise"]), 5)

    def test_words_contribute_what_a_score_loses_without_them(self):
        found = self.client.ask("explain", pairs=[GOOD], top=100)
        words = [text.split() for text in GOOD]
        for k, side in enumerate("xy"):
            parts = found["words"][side]["raise"] + found["words"][side]["lower"]
            self.assertGreater(len(parts), 0)
            for part in parts:
                place = part["place"]
                rest = [" ".join(words[k][:place] + words[k][place + 1:]) if i == k else text
                        for i, text in enumerate(GOOD)]
                whole, without = self.client.ask("score", pairs=[GOOD, rest])["scores"]
                self.assertAlmostEqual(part["contribution"], whole - without, delta=1e-6)

    def test_words_of_any_texts_are_told_within_bounds(self):
        megabyte = " ".join(f"river{i % 90}" for i in range(125000))
        for x, count, unexamined in (("", 0, 0), (" \n", 0, 0), ("river", 1, 0), ("\0", 1, 0),
                                     ("a " * 90, 90, 26), ("河" * 70, 70, 6),
                                     (megabyte, None, None), ("河" * 300000, 21845, 21843)):
            side = self.client.ask("explain", pairs=[[x, GOOD[1]]])["words"]["x"]
            if count is None:
                self.assertGreater(side["unexamined"], 5000)
                self.assertLessEqual(side["count"] - side["unexamined"], 64)
            else:
                self.assertEqual((side["count"], side.get("unexamined", 0)), (count, unexamined))

    def test_a_refresh_of_all_takes_in_the_newest_pairs(self):
        self.client.ask("learn", pairs=PAIRS[:20], wait=True)
        without = self.client.ask("refresh")
        whole = self.client.ask("refresh", all=True)
        self.assertEqual(whole["model"], without["model"] + 1)
        self.assertEqual(whole["pairs"], self.d.stats("chat")["pairs"])
        self.assertEqual(self.client.ask("score", pairs=[GOOD])["model"], whole["model"])

    def test_stats_have_the_members_that_are_documented_and_no_others(self):
        self.client.ask("refresh")
        answer = self.client.ask("stats", stream="chat")
        self.assertEqual(set(answer), {"ok", "streams", "daemon"})
        self.assertEqual(sorted(answer["daemon"]), sorted(table("Of the daemon")))
        self.assertEqual(sorted(answer["streams"]["chat"]), sorted(table("Of a stream")))
        self.assertEqual(sorted(answer["streams"]["chat"]["latency"]), ["max", "p50", "p90", "p99"])
        self.assertEqual(answer["daemon"]["pid"], self.d.process.pid)

    def test_stats_count(self):
        before = self.client.ask("stats")
        self.client.ask("score", pairs=[GOOD, OTHER])
        self.client.ask("rank", x="a", candidates=["b", "c", "d"])
        self.client.error({"op": "sing"})
        self.client.ask("learn", pairs=[["same", "same"], GOOD], wait=True)
        after = self.client.ask("stats")

        def more(part, name):
            def value(stats):
                return stats["daemon"][name] if part == "daemon" else stats["streams"]["chat"][name]
            return value(after) - value(before)

        self.assertEqual(more("chat", "scored"), 2)
        self.assertEqual(more("chat", "ranked"), 3)
        self.assertEqual(more("chat", "pairs"), 1)
        self.assertEqual(more("chat", "refused"), 1)
        self.assertEqual(more("daemon", "requests"), 5)
        self.assertEqual(more("daemon", "replies"), 5)
        self.assertEqual(more("daemon", "bad_requests"), 1)
        self.assertEqual(after["streams"]["chat"]["queue"], 0)
        self.assertEqual(after["streams"]["chat"]["unlearned"], 0)

    def test_percentiles_and_p_values_are_read_from_the_calibration(self):
        stats = self.client.ask("stats", stream="chat", calibration=True)["streams"]["chat"]
        matched, null = stats["calibration"]["matched"], stats["calibration"]["null"]
        self.assertEqual(matched, sorted(matched))
        self.assertEqual(null, sorted(null))
        self.assertGreater(min(len(matched), len(null)), 100)
        answer = self.client.ask("score", pairs=PAIRS[:50])
        for score, percentile, p_value in zip(answer["scores"], answer["percentiles"],
                                              answer["p_values"]):
            lower = sum(value < score for value in matched) / len(matched)
            self.assertLess(abs(percentile - lower), 0.02)
            self.assertLess(abs(p_value - sum(v >= score for v in null) / len(null)), 0.02)
        self.assertNotIn("calibration", self.client.ask("stats")["streams"]["chat"])

    def test_streams_have_the_options_that_were_set_as_they_were_written(self):
        streams = self.client.ask("streams")["streams"]
        self.assertEqual(len(streams), 1)
        self.assertEqual(streams[0]["name"], "chat")
        self.assertEqual(streams[0]["options"], {**SMALL, **OPEN})
        self.assertEqual(streams[0]["pairs"], self.d.stats("chat")["pairs"])
        self.assertEqual(streams[0]["model"], self.d.stats("chat")["model"])

    def test_what_is_not_json_is_told_with_its_place(self):
        message = self.client.raw(b'{"op": "ping", "id": secret}')["error"]["message"]
        self.assertIn("at byte 21 ", message)
        self.assertNotIn("secret", message)

    def test_what_is_not_a_request_is_a_bad_request(self):
        for text in (b"", b"{", b"[]", b"1", b"null", b'"op"', b"\xff\xfe", b'{"op": "ping"} x',
                     b'{"id": 1}', b'{"op": 1}', b'{"op": "score", "pairs": [["\xff", "b"]]}'):
            self.assertEqual(self.client.error(text), "bad_request", text)
        for request in (
                {"op": "score"}, {"op": "score", "pairs": None}, {"op": "score", "pairs": {}},
                {"op": "score", "pairs": ["ab"]}, {"op": "score", "pairs": [["a"]]},
                {"op": "score", "pairs": [["a", "b", "c"]]}, {"op": "score", "pairs": [["a", 1]]},
                {"op": "score", "pairs": [{"x": "a"}]}, {"op": "score", "pairs": [{"y": "a"}]},
                {"op": "score", "pairs": [{"x": "a", "y": "b", "z": "c"}]},
                {"op": "score", "pairs": [{"x": "a", "y": "b", "time": "now"}]},
                {"op": "score", "pairs": [{"x": "a", "y": "b", "time": 1e300}]},
                {"op": "score", "pairs": [{"x": "a", "y": "b", "id": 0.5}]},
                {"op": "score", "pairs": [GOOD], "learn": 1}, {"op": "score", "stream": 1},
                {"op": "learn", "pairs": [GOOD], "wait": "yes"},
                {"op": "rank", "x": "a"}, {"op": "rank", "candidates": ["a"]},
                {"op": "rank", "x": 1, "candidates": ["a"]},
                {"op": "rank", "x": "a", "candidates": "b"},
                {"op": "rank", "x": "a", "candidates": [1]},
                {"op": "explain", "pairs": []}, {"op": "explain", "pairs": [GOOD, OTHER]},
                {"op": "explain", "pairs": [GOOD], "top": 0},
                {"op": "explain", "pairs": [GOOD], "top": 101},
                {"op": "explain", "pairs": [GOOD], "top": -1},
                {"op": "refresh", "all": "yes"}, {"op": "stats", "calibration": 1}):
            self.assertEqual(self.client.error(request), "bad_request", request)
        self.assertEqual(self.client.error({"op": "ping"}, b""), "bad_request")

    def test_the_message_says_what_was_found_and_what_was_expected(self):
        documented = next(e for e in EXAMPLES if e and e[0].get("ok") is False)[0]
        pairs = [GOOD, GOOD, GOOD, ["a"]]
        self.assertEqual(self.client.raw({"op": "score", "id": 42, "pairs": pairs}), documented)

    def test_members_that_an_operation_does_not_know_are_errors(self):
        for request in ({"op": "score", "pairs": [GOOD]}, {"op": "learn", "pairs": [GOOD]},
                        {"op": "score-and-learn", "pairs": [GOOD]},
                        {"op": "rank", "x": "a", "candidates": ["b"]},
                        {"op": "explain", "pairs": [GOOD]}, {"op": "refresh"}, {"op": "stats"},
                        {"op": "streams"}, {"op": "ping"}):
            self.assertTrue(self.client.raw(request)["ok"], request)
            answer = self.client.raw({**request, "paris": []})
            self.assertEqual(answer["error"]["code"], "bad_request", request)
            self.assertIn("paris", answer["error"]["message"])

    def test_other_errors_have_codes_of_their_own(self):
        self.assertEqual(self.client.error({"op": "scores", "pairs": [GOOD]}), "unknown_op")
        for op in ("score", "learn", "score-and-learn", "explain"):
            self.assertEqual(self.client.error({"op": op, "stream": "chit", "pairs": [GOOD]}),
                             "unknown_stream")
        for op in ("refresh", "stats"):
            self.assertEqual(self.client.error({"op": op, "stream": "chit"}), "unknown_stream")

    def test_vectors_do_not_fit_a_stream_of_texts(self):
        shape = {"rows": 1, "dim": 128}
        row = floats([[1.0] * 128])
        self.assertEqual(self.client.error({"op": "score", "x": shape, "y": shape}, row, row),
                         "wrong_shape")


class SeveralStreams(Case):
    @classmethod
    def setUpClass(cls):
        cls.d = cls.shared_daemon({"chat": SMALL, "v": VECTORS}, request_pairs=100)
        cls.points = [[float(i % 7), float(i % 5), float(i % 3)] for i in range(100)]
        cls.images = [[b, c, a + b] for a, b, c in cls.points]

    def setUp(self):
        self.client = self.d.client()

    def score(self, x, y, op="score", **more):
        def shape(rows):
            return {"rows": len(rows), "dim": len(rows[0])}
        return self.client.raw({"op": op, "stream": "v", "x": shape(x), "y": shape(y), **more},
                               floats(x), floats(y))

    def test_one_of_several_streams_must_be_named(self):
        for request in ({"op": "score", "pairs": [GOOD]}, {"op": "refresh"},
                        {"op": "rank", "x": "a", "candidates": []}):
            self.assertEqual(self.client.error(request), "unknown_stream")
        self.assertEqual(set(self.client.ask("stats")["streams"]), {"chat", "v"})
        self.assertEqual(set(self.client.ask("stats", stream="v")["streams"]), {"v"})

    def test_before_the_first_model_every_score_is_nought(self):
        answer = self.client.ask("score", stream="chat", pairs=[GOOD])
        self.assertEqual(answer, {"ok": True, "scores": [0], "decisions": ["undecided"],
                                  "reasons": ["no_model"], "model": 0, "epoch": 0})
        request = {"op": "explain", "stream": "chat", "pairs": [GOOD]}
        self.assertEqual(self.client.error(request), "not_ready")
        stats = self.d.stats("chat")
        self.assertNotIn("self_auc", stats)
        self.assertNotIn("estimator", stats)

    def test_vectors_are_taken_as_texts_of_the_same_numbers_are(self):
        for _ in range(5):
            answer = self.score(self.points, self.images, "learn", wait=True)
            self.assertEqual(answer["learned"], 100)
        self.client.ask("refresh", stream="v", all=True)
        by_frames = self.score(self.points[:9], self.images[:9])["scores"]
        texts = [[" ".join(map(str, x)), " ".join(map(str, y))]
                 for x, y in zip(self.points[:9], self.images[:9])]
        by_texts = self.client.ask("score", stream="v", pairs=texts)["scores"]
        self.assertGreater(len(set(by_frames)), 5)
        self.assertEqual(by_frames, by_texts)
        ranked = self.score(self.points[:1], self.images[:9], "rank")
        self.assertEqual(ranked["ranking"], sorted(range(9), key=lambda i: -ranked["scores"][i]))
        self.assertAlmostEqual(ranked["scores"][0], by_frames[0], 4)

    def test_wrong_shapes_are_told(self):
        x = {"rows": 2, "dim": 3}
        two = floats([[1, 2, 3], [4, 5, 6]])

        def code(*frames, op="score", x=x, y=x):
            return self.client.error({"op": op, "stream": "v", "x": x, "y": y}, *frames)

        self.assertEqual(code(two, two[:-4]), "wrong_shape")
        self.assertEqual(code(two, b""), "wrong_shape")
        self.assertEqual(code(two, two, y={"rows": 1, "dim": 3}), "wrong_shape")
        self.assertEqual(code(two, two, y={"rows": 2, "dim": 4}), "wrong_shape")
        one_by_six = {"rows": 1, "dim": 6}
        self.assertEqual(code(two, two, x=one_by_six, y=one_by_six), "wrong_shape")
        self.assertEqual(code(two, two, op="rank"), "wrong_shape")
        huge = {"rows": 2**32 - 1, "dim": 32768}
        self.assertIn(code(two, two, x=huge, y=huge), ("wrong_shape", "too_large"))
        for bad in ({"rows": 2}, {"rows": 2, "dim": 0}, {"rows": -2, "dim": 3}, [2, 3], "2x3",
                    {"rows": 2, "dim": 3, "depth": 1}, {"rows": 2.5, "dim": 3},
                    {"rows": 2, "dim": 10**9}):
            self.assertEqual(code(two, two, x=bad, y=bad), "bad_request", bad)
        self.assertEqual(code(two), "bad_request")
        self.assertEqual(code(two, two, two), "bad_request")

    def test_more_pairs_than_a_request_may_have_are_too_large(self):
        pairs = PAIRS[:101]
        self.assertEqual(self.client.error({"op": "score", "stream": "chat", "pairs": pairs}),
                         "too_large")
        self.assertEqual(self.client.error({"op": "rank", "stream": "chat", "x": "a",
                                            "candidates": ["b"] * 101}), "too_large")
        self.assertEqual(self.score([[0, 0, 1]] * 101, [[0, 0, 1]] * 101)["error"]["code"],
                         "too_large")
        self.client.ask("score", stream="chat", pairs=pairs[:100])

    def test_a_bad_pair_is_a_problem_and_the_others_are_scored(self):
        pairs = [["1 2 3", "1 2 3"], ["1 2", "1 2 3"], ["1 2 3", "one"], ["1 2 3", "4 5 6"]]
        answer = self.client.ask("score", stream="v", pairs=pairs)
        self.assertEqual([score is None for score in answer["scores"]], [False, True, True, False])
        self.assertEqual([problem["pair"] for problem in answer["problems"]], [1, 2])
        self.assertTrue(all(problem["message"] for problem in answer["problems"]))
        answer = self.client.ask("learn", stream="v", pairs=pairs, wait=True)
        self.assertEqual(answer["learned"], 3 - 1 - 1)  # the first is of a text with itself
        self.assertEqual(len(answer["problems"]), 2)
        infinite, nan = float("inf"), float("nan")
        answer = self.score([[1, 2, 3], [1, nan, 3], [1, 2, 3]],
                            [[1, 2, 3], [1, 2, 3], [1, 2, infinite]])
        self.assertEqual([score is None for score in answer["scores"]], [False, True, True])
        self.assertEqual([problem["pair"] for problem in answer["problems"]], [1, 2])

    def test_a_bad_candidate_comes_last(self):
        answer = self.client.ask("rank", stream="v", x="1 2 3", candidates=["no", "3 2 1"])
        self.assertEqual(answer["scores"][0], None)
        self.assertEqual(answer["ranking"], [1, 0])
        self.assertEqual(answer["problems"][0]["pair"], 0)

    def test_the_first_model_can_be_explained(self):
        daemon = self.daemon()
        daemon.own.learn(PAIRS[:300])
        self.assertEqual(daemon.stats("chat")["model"], 1)
        answer = daemon.ask("explain", pairs=[GOOD])
        self.assertEqual((len(answer["raise"]), answer["model"]), (5, 1))

    def test_nothing_is_scored_against_a_bad_x(self):
        before = self.d.stats("v")["problems"]
        answer = self.client.ask("rank", stream="v", x="one", candidates=["1 2 3", "3 2 1"])
        self.assertEqual(answer["scores"], [None, None])
        self.assertEqual(len(answer["problems"]), 1)
        self.assertEqual(self.d.stats("v")["problems"], before + 1)

    def test_room_is_what_may_come_until_the_next_model(self):
        daemon = self.daemon()
        room = daemon.ask("learn", pairs=[], wait=True)["room"]
        pairs = pairs_of(room, 7)
        for start in range(0, room - 1, 100):
            part = pairs[start:min(start + 100, room - 1)]
            left = daemon.ask("learn", pairs=part, wait=True)["room"]
            self.assertEqual(left, room - start - len(part))
        self.assertEqual(daemon.stats("chat")["model"], 0)
        daemon.ask("learn", pairs=pairs[-1:], wait=True)
        self.assertEqual(daemon.stats("chat")["model"], 1)


class Document(Case):
    def test_every_example_of_a_request_has_the_answer_that_is_documented(self):
        chat = self.daemon({"chat": {**SMALL, "score": 1e9}}, state=True)  # all is dropped
        chat.own.learn(PAIRS)
        vectors = self.daemon({"v": {"encoder": "vectors:dim=300", "refresh-after": "never"}})
        self.assertGreaterEqual({request["op"] for request, *_ in REQUESTS},
                                {"score", "learn", "rank", "explain", "refresh", "stats",
                                 "streams", "ping"})
        chat.ask("refresh")
        chat.ask("score", pairs=[{"x": GOOD[0], "y": GOOD[1], "id": "m-1"}])
        for request, *answer in REQUESTS:
            daemon = vectors if request.get("stream") == "v" else chat
            frames = [floats([[1.0] * side["dim"]] * side["rows"])
                      for side in (request.get("x"), request.get("y")) if isinstance(side, dict)]
            found = daemon.own.raw(request, *frames)
            self.assertTrue(found["ok"], (request, found))
            for member, value in (answer[0] if answer else {}).items():
                self.assertIn(member, found, request)
                self.assertEqual(type(found[member]) in (int, float), type(value) in (int, float))
                if isinstance(value, list) and value and isinstance(value[0], dict):
                    self.assertLessEqual(set(value[0]), set(found[member][0]), member)
                elif isinstance(value, dict):
                    self.assertLessEqual(set(value), set(found[member]), member)

    def test_every_example_of_a_message_is_taken_and_published_as_documented(self):
        daemon = self.daemon({"chat": {**SMALL, "score": 1e9}})  # all is dropped
        daemon.own.learn(PAIRS)
        daemon.ask("refresh")
        subscriber = Subscriber(daemon)
        messages = [e for example in EXAMPLES for e in example if "stream" in e and "op" not in e]
        self.assertEqual(len(messages), 2)
        push = daemon.push()
        for message in messages:
            push.send_json(message)
        daemon.until(lambda: daemon.stats()["messages"] == len(messages))
        self.assertEqual(daemon.stats()["bad_messages"], 0)
        daemon.ask("refresh")
        found = subscriber.catch_up()
        score, event = [e[0] for e in EXAMPLES if e and "seq" in e[0]]
        self.assertEqual({frozenset(m) - {"id"} for topic, m in found if topic == "score"},
                         {frozenset(score) - {"id"}})
        self.assertEqual({frozenset(m) - {"id"} for topic, m in found if topic == "flag"},
                         {frozenset(score) - {"id"}})
        refresh = next(m for topic, m in found if topic == "event")
        self.assertLessEqual(set(event) | {"refresh_seconds"}, set(refresh))


if __name__ == "__main__":
    unittest.main()
