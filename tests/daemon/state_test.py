"""What is kept: promises, pairs that count once, numbers of the feed, the journal and snapshots."""

import sqlite3
import time
import unittest
from contextlib import closing

import journal
from phsicd import SMALL, Case, Listener, Subscriber, floats, pairs_of

# Models come on request alone, so that what is in the journal is what the test has sent.
QUIET = {**SMALL, "refresh": 10**6}
PAIRS = pairs_of(600, 61)


def with_ids(pairs, first=0):
    return [{"x": x, "y": y, "id": f"p{first + i}"} for i, (x, y) in enumerate(pairs)]


class Promises(Case):
    @classmethod
    def setUpClass(cls):
        streams = {"chat": SMALL, "hasty": {**SMALL, "promise": "accepted"},
                   "v": {"encoder": "vectors:dim=2"}}
        cls.d = cls.shared_daemon(streams, state=True)
        cls.bare = cls.shared_daemon(streams)

    def test_with_a_state_learning_is_durable_unless_something_else_is_said(self):
        for op in ("learn", "score-and-learn"):
            for wait in (False, True):
                answer = self.d.ask(op, stream="chat", pairs=PAIRS[:3], wait=wait)
                self.assertEqual((answer["learned"], answer["durable"]), (3, True))
                answer = self.d.ask(op, stream="chat", pairs=PAIRS[:3], wait=wait,
                                    promise="accepted")
                self.assertEqual(answer["learned"], 3)
                self.assertNotIn("durable", answer)

    def test_a_stream_may_promise_less_and_a_request_ask_for_more(self):
        self.assertNotIn("durable", self.d.ask("learn", stream="hasty", pairs=PAIRS[:2]))
        answer = self.d.ask("learn", stream="hasty", pairs=PAIRS[:2], promise="durable")
        self.assertIs(answer["durable"], True)

    def test_vectors_are_promised_as_texts_are(self):
        shape = {"rows": 1, "dim": 2}
        frames = [floats([[1, 2]]), floats([[3, 4]])]
        answer = self.d.ask("learn", *frames, stream="v", x=shape, y=shape)
        self.assertIs(answer["durable"], True)
        request = {"op": "learn", "stream": "v", "x": shape, "y": shape, "promise": "durable"}
        self.assertEqual(self.bare.own.error(request, *frames), "not_durable")

    def test_a_score_that_learns_promises_as_well(self):
        answer = self.d.ask("score", stream="chat", pairs=PAIRS[:2], learn=True, promise="durable")
        self.assertIs(answer["durable"], True)
        self.assertEqual(len(answer["scores"]), 2)

    def test_without_a_state_nothing_is_durable_and_nothing_of_such_a_request_is_learned(self):
        before = self.bare.stats("chat")["pairs"]
        for op in ("learn", "score-and-learn"):
            request = {"op": op, "stream": "chat", "pairs": PAIRS[:3], "promise": "durable"}
            self.assertEqual(self.bare.own.error(request), "not_durable")
        self.assertEqual(self.bare.own.error({"op": "snapshot", "stream": "chat"}), "not_durable")
        answer = self.bare.ask("learn", stream="chat", pairs=PAIRS[:3], wait=True)
        self.assertNotIn("durable", answer)
        self.assertEqual(self.bare.stats("chat")["pairs"], before + 3)

    def test_a_promise_that_makes_no_sense_is_an_error(self):
        request = {"op": "learn", "stream": "chat", "pairs": PAIRS[:1]}
        for promise in ("eternal", "", True, 7):
            self.assertEqual(self.d.own.error({**request, "promise": promise}), "bad_request")
        self.assertEqual(self.d.own.error({**request, "op": "score", "promise": "durable"}),
                         "bad_request")

    def test_ping_and_stats_tell_whether_there_is_a_state(self):
        self.assertIs(self.d.ask("ping")["keeping"], True)
        self.assertIs(self.d.stats("chat")["keeping"], True)
        state = self.d.stats()["state"]
        self.assertEqual((state["file"], state["keeping"], state["failures"]),
                         (str(self.d.state), True, 0))
        self.assertNotIn("problem", state)
        self.assertNotIn("keeping", self.bare.ask("ping"))
        self.assertNotIn("keeping", self.bare.stats("chat"))
        self.assertNotIn("state", self.bare.stats())

    def test_counters_tell_what_is_written(self):
        before, stream = self.d.stats()["state"], self.d.stats("chat")
        self.d.ask("learn", stream="chat", pairs=PAIRS[:100], promise="durable")
        snapshot = self.d.ask("snapshot", stream="chat")
        after, written = self.d.stats()["state"], self.d.stats("chat")
        self.assertGreater(after["commits"], before["commits"])
        texts = sum(len((x + y).encode()) for x, y in PAIRS[:100])
        self.assertGreaterEqual(after["bytes"], before["bytes"] + texts)
        self.assertEqual(written["snapshots"], stream["snapshots"] + 1)
        self.assertEqual(snapshot["pairs"], written["pairs"])
        self.assertGreater(snapshot["bytes"], 0)


class Once(Case):
    def assert_learned(self, daemon, pairs, learned, stream="chat"):
        """`learned` of the pairs are learned, and the others are reported as duplicates."""
        before = daemon.stats(stream)
        answer = daemon.ask("score-and-learn", stream=stream, pairs=pairs, wait=True)
        self.assertEqual(len(answer["scores"]), len(pairs))
        self.assertEqual((answer["learned"], answer.get("duplicates", 0)),
                         (learned, len(pairs) - learned))
        after = daemon.stats(stream)
        self.assertEqual(after["pairs"] - before["pairs"], learned)
        self.assertEqual(after["duplicates"] - before["duplicates"], len(pairs) - learned)

    def test_a_pair_that_comes_again_is_scored_and_not_learned(self):
        for daemon in (self.daemon(state=True), self.daemon()):
            self.assert_learned(daemon, with_ids(PAIRS[:5]), 5)
            self.assert_learned(daemon, with_ids(PAIRS[:5]), 0)
            self.assert_learned(daemon, with_ids(PAIRS[3:6], 3), 1)
            # The id is what counts, not the texts.
            self.assert_learned(daemon, with_ids(PAIRS[100:105]), 0)
            self.assert_learned(daemon, PAIRS[:5], 5)
            self.assert_learned(daemon, PAIRS[:5], 5)

    def test_ids_count_once_within_a_request(self):
        daemon = self.daemon(state=True)
        x, y = PAIRS[0]
        pairs = [{"x": x, "y": y, "id": i} for i in (1, 2, 1, "a", "a", 1, 3)]
        self.assert_learned(daemon, pairs, 4)

    def test_ids_are_those_of_a_stream(self):
        daemon = self.daemon({"chat": SMALL, "b": SMALL}, state=True)
        self.assert_learned(daemon, with_ids(PAIRS[:5]), 5)
        self.assert_learned(daemon, with_ids(PAIRS[:5]), 5, "b")
        self.assert_learned(daemon, with_ids(PAIRS[:5]), 0)

    def test_a_stream_that_counts_learns_them_once_too(self):
        daemon = self.daemon({"chat": {"estimator": "pmi"}}, state=True)
        self.assert_learned(daemon, with_ids(PAIRS[:5]), 5)
        self.assert_learned(daemon, with_ids(PAIRS[:5]), 0)
        daemon.kill()
        daemon.start()
        self.assert_learned(daemon, with_ids(PAIRS[:6]), 1)

    def test_a_pushed_pair_that_comes_again_is_published_and_not_learned(self):
        daemon = self.daemon(state=True)
        subscriber = Subscriber(daemon)
        push = daemon.push()
        for _ in range(3):
            push.send_json({"pairs": with_ids(PAIRS[:4])})
        daemon.until(lambda: daemon.stats("chat")["duplicates"] == 8)
        daemon.until(lambda: daemon.stats("chat")["unlearned"] == 0)
        self.assertEqual(daemon.stats("chat")["pairs"], 4)
        ids = [message["id"] for topic, message in subscriber.catch_up() if topic == "score"]
        self.assertEqual(ids, ["p0", "p1", "p2", "p3"] * 3)

    def test_ids_are_remembered_after_a_restart_and_a_crash(self):
        daemon = self.daemon(state=True)
        self.assert_learned(daemon, with_ids(PAIRS[:50]), 50)
        for number, end in enumerate((daemon.kill, daemon.stop, daemon.stop, daemon.kill)):
            end()
            daemon.start()
            self.assert_learned(daemon, with_ids(PAIRS[:50 + 10 * number]), 0)
            self.assert_learned(daemon, with_ids(PAIRS[:60 + 10 * number]), 10)

    def test_an_id_is_forgotten_when_the_window_is_full_of_others(self):
        for end in ("kill", "stop"):
            daemon = self.daemon({"chat": {**SMALL, "id-window": 4}}, state=True)

            def learned(names, daemon=daemon):
                return [daemon.ask("learn", wait=True, pairs=[{"x": "a", "y": "b", "id": name}])
                        ["learned"] for name in names]

            self.assertEqual(learned("abcda"), [1, 1, 1, 1, 0])  # three others have come between
            self.assertEqual(learned("ea"), [1, 1])  # now four
            getattr(daemon, end)()
            daemon.start()
            self.assertEqual(learned("cdea"), [0, 0, 0, 0])
            self.assertEqual(learned("bc"), [1, 1])  # b took the place of c, c that of d
            self.assertEqual(learned("eabcd"), [0, 0, 0, 0, 1])

    def test_a_pair_that_could_not_be_learned_may_come_again(self):
        daemon = self.daemon({"v": {"encoder": "vectors:dim=2"}}, state=True)
        answer = daemon.ask("learn", wait=True, pairs=[{"x": "1 2 3", "y": "1 2", "id": "a"},
                                                       {"x": "1 2", "y": "1 2", "id": "b"}])
        self.assertEqual((answer["learned"], len(answer["problems"])), (0, 1))
        good = [{"x": "1 2", "y": "3 4", "id": name} for name in "ab"]
        answer = daemon.ask("learn", wait=True, pairs=good)
        self.assertEqual((answer["learned"], answer.get("duplicates", 0)), (2, 0))

    def test_a_durable_duplicate_is_as_safe_as_its_original(self):
        daemon = self.daemon(state=True, commit_delay="0.05s")
        for number in range(5):
            client = daemon.client()
            pair = with_ids(PAIRS[number:number + 1], number)
            client.send({"op": "learn", "pairs": pair, "promise": "accepted", "id": "accepted"})
            client.send({"op": "learn", "pairs": pair, "promise": "durable", "id": "durable"})
            while (answer := client.receive())["id"] != "durable":
                pass
            daemon.kill()
            self.assertIs(answer["durable"], True)
            daemon.start()
            self.assertEqual(daemon.stats("chat")["pairs"], number + 1)


class FeedNumbers(Case):
    def test_numbers_go_on_exactly_after_an_orderly_end(self):
        daemon = self.daemon(state=True)
        last = 0
        for _ in range(4):
            listener = Listener(daemon)
            self.assertEqual(listener.first(), last + 1)
            daemon.ask("score", pairs=PAIRS)
            last = listener.last()
            self.assertEqual(daemon.stop(), 0)
            daemon.start()

    def test_numbers_go_on_after_those_of_pairs_that_nobody_heard(self):
        daemon = self.daemon(state=True)
        daemon.ask("score", pairs=PAIRS)
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        self.assertEqual(Listener(daemon).first(), len(PAIRS) + 1)

    def test_numbers_never_come_again_after_a_crash(self):
        daemon = self.daemon(state=True)
        last = 0
        for _ in range(4):
            listener = Listener(daemon)
            self.assertGreater(listener.first(), last)
            daemon.ask("score", pairs=PAIRS)
            last = listener.last()
            daemon.kill()
            daemon.start()

    def test_events_are_numbered_on_too(self):
        daemon = self.daemon(state=True)
        daemon.own.learn(PAIRS)

        def next_event():
            subscriber = Subscriber(daemon)
            daemon.ask("refresh")
            return [message["seq"] for topic, message in subscriber.catch_up()
                    if topic == "event" and message["event"] == "refresh"][0]

        number = next_event()
        daemon.stop()
        daemon.start()
        again = next_event()
        self.assertEqual(again, number + 1)
        daemon.kill()
        daemon.start()
        self.assertGreater(next_event(), again)


class Streams(Case):
    def test_a_stream_that_was_away_has_what_it_had(self):
        daemon = self.daemon({"a": QUIET, "b": QUIET}, state=True)
        daemon.own.learn(PAIRS, stream="a")
        daemon.own.learn(PAIRS[:100], stream="b")
        daemon.ask("refresh", stream="a")
        scores = daemon.ask("score", stream="a", pairs=PAIRS[:20])
        daemon.settle(stream="a")
        for end in (daemon.kill, daemon.stop):
            end()
            removed = daemon.config["streams"].pop("a")
            daemon.start()
            daemon.own.learn(PAIRS[100:110], stream="b")
            daemon.stop()
            daemon.config["streams"]["a"] = removed
            daemon.start()
            self.assertEqual(daemon.ask("score", stream="a", pairs=PAIRS[:20]), scores)
        self.assertEqual(daemon.stats("b")["pairs"], 120)

    def test_a_stream_that_a_reload_adds_is_kept_as_others_are(self):
        daemon = self.daemon({"a": QUIET}, state=True)
        daemon.config["streams"]["b"] = QUIET
        self.assertEqual(daemon.reload()["refused_reloads"], 0)
        answer = daemon.ask("learn", stream="b", pairs=PAIRS[:30])
        self.assertIs(answer["durable"], True)
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.stats("b")["pairs"], 30)

    def test_a_reload_that_is_refused_leaves_nothing_in_the_state(self):
        daemon = self.daemon({"a": QUIET, "b": QUIET}, state=True)
        daemon.own.learn(PAIRS[:30], stream="b")
        daemon.stop()
        del daemon.config["streams"]["b"]
        daemon.start()

        def known():
            with closing(sqlite3.connect(f"file:{daemon.state}?mode=ro", uri=True)) as file:
                return (file.execute("select * from stream order by id").fetchall(),
                        file.execute("select * from feed order by topic").fetchall())

        before = known()
        daemon.config["streams"].update(b={**QUIET, "queue-pairs": 77}, c=QUIET,
                                        d={**QUIET, "ingest": "ipc:///nowhere/at.all"})
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        daemon.settle(stream="a")
        self.assertEqual(known(), before)
        del daemon.config["streams"]["d"]
        self.assertEqual(daemon.reload()["reloads"], 1)
        self.assertEqual(daemon.stats("b")["pairs"], 30)
        self.assertEqual([name for _, name, *_ in known()[0]], ["a", "b", "c"])

    def test_no_number_is_given_twice_after_a_reload_that_was_refused(self):
        # What it has put into the state goes with the next commit, and the next reload comes first.
        daemon = self.daemon({"a": QUIET}, state=True, commit_delay="1s")
        daemon.config["streams"].update(b=QUIET, d={**QUIET, "ingest": "ipc:///nowhere/at.all"})
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        del daemon.config["streams"]["d"]
        self.assertEqual(daemon.reload()["reloads"], 1)
        listener = Listener(daemon, "b")
        self.assertEqual(listener.first(), 1)
        last = listener.last()
        daemon.kill()
        daemon.start()
        self.assertGreater(Listener(daemon, "b").first(), last)

    def test_a_stream_that_a_reload_brings_back_has_what_it_had(self):
        daemon = self.daemon({"a": QUIET, "b": QUIET}, state=True)
        daemon.own.learn(PAIRS[:30], stream="b")
        daemon.kill()
        removed = daemon.config["streams"].pop("b")
        daemon.start()
        daemon.config["streams"]["b"] = {**removed, "kernel": "linear"}
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        daemon.config["streams"]["b"] = removed
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        self.assertEqual(daemon.stats("b")["pairs"], 30)


class Journal(Case):
    def test_it_is_what_the_document_says(self):
        daemon = self.daemon({"chat": QUIET, "v": {**QUIET, "encoder": "vectors:dim=2"}},
                             state=True)
        named = [{**pair, "time": 1.7e9 + i} for i, pair in enumerate(with_ids(PAIRS[:200]))]
        daemon.ask("learn", stream="chat", pairs=named, wait=True)
        daemon.ask("refresh", stream="chat", all=True)
        daemon.ask("learn", stream="chat", pairs=[{"x": "ä", "y": "", "time": 1.75e9}], wait=True)
        shape = {"rows": 2, "dim": 2}
        daemon.ask("learn", floats([[1, 2], [3, 4]]), floats([[5, 6], [7, 8]]), stream="v",
                   x=shape, y=shape, wait=True)
        daemon.kill()
        entries = journal.read(daemon.state, "chat")
        self.assertEqual([entry.kind for entry in entries],
                         [journal.TEXTS, journal.BEGUN, journal.ADOPTED, journal.CUT, journal.TEXTS])
        self.assertEqual(entries[0].pairs, [(pair["x"], pair["y"], pair["time"],
                                             journal.id_of(pair["id"])) for pair in named])
        self.assertEqual(entries[4].pairs, [("ä", "", 1.75e9, None)])
        self.assertEqual(entries[0].decisions, [(journal.KEEP, 0)] * 200)
        entries = journal.read(daemon.state, "v")
        self.assertEqual([entry.kind for entry in entries], [journal.VECTORS])
        self.assertEqual([pair[:2] for pair in entries[0].pairs],
                         [((1, 2), (5, 6)), ((3, 4), (7, 8))])

    def test_a_time_far_ahead_is_that_of_the_arrival(self):
        window = {**QUIET, "window": "10m"}
        daemon = self.daemon({"chat": window, "open": {**window, "time-slack": "any"}}, state=True)
        before = time.time()
        for stream in ("chat", "open"):
            daemon.ask("learn", stream=stream, pairs=PAIRS[:200], wait=True)
            # Milliseconds; a clock that is a little fast; before 1970.
            daemon.ask("learn", stream=stream, wait=True, pairs=[
                {"x": "a b", "y": "c d", "time": t} for t in (1000 * before, before + 30, -5)])
            daemon.ask("learn", stream=stream, pairs=PAIRS[200:500], wait=True)
        after = time.time()
        self.assertEqual([daemon.stats(stream)["ahead"] for stream in ("chat", "open")], [1, 0])
        # The window is ten minutes, and all this took less.
        answer = daemon.ask("refresh", stream="chat", all=True)
        self.assertEqual(answer["effective_pairs"], 503)
        seen = daemon.ask("score", stream="chat", pairs=PAIRS[:20])["scores"]
        # What comes before a durable pair is on the disk, too: the model.
        daemon.ask("learn", stream="chat", pairs=PAIRS[500:501], promise="durable")
        daemon.kill()
        times = [at for entry in journal.read(daemon.state, "chat")
                 if entry.kind == journal.TEXTS for _, _, at, _ in entry.pairs]
        self.assertEqual((len(times), times[201:203]), (504, [before + 30, -5]))
        self.assertLess(before, times[200])
        self.assertLess(times[200], after)
        # What was learned is learned again, not decided again.
        daemon.start()
        self.assertEqual(daemon.ask("score", stream="chat", pairs=PAIRS[:20])["scores"], seen)

    def test_vectors_far_too_long_are_counted_and_stay_so(self):
        stream = {**QUIET, "encoder": "vectors:dim=2", "kernel": "linear"}
        daemon = self.daemon({"v": stream}, state=True)
        shape = {"rows": 200, "dim": 2}
        x = [[i % 7 - 3, i % 5 - 2] for i in range(200)]
        x[150] = [1e9, 1e9]
        for _ in range(2):
            daemon.ask("learn", floats(x), floats(x), stream="v", x=shape, y=shape, wait=True)
        self.assertEqual(daemon.stats("v")["clipped"], 4)
        self.assertGreater(daemon.ask("refresh", stream="v")["self_auc"], 0.8)
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.stats("v")["clipped"], 4)


class Snapshots(Case):
    def rows(self, daemon, query):
        with closing(sqlite3.connect(f"file:{daemon.state}?mode=ro", uri=True)) as file:
            return file.execute(query).fetchall()

    def test_as_many_are_kept_as_was_said_and_the_journal_since_the_oldest(self):
        daemon = self.daemon({"a": QUIET}, state=True, snapshots=2)
        for start in range(0, 500, 100):
            daemon.own.learn(PAIRS[start:start + 100], 10)
            self.assertEqual(daemon.ask("snapshot")["pairs"], start + 100)
        daemon.own.learn(PAIRS[500:], 10)
        daemon.kill()
        daemon.start()
        self.assertEqual([pairs for pairs, in self.rows(
            daemon, "select pairs from snapshot order by id")], [400, 500])
        self.assertEqual(self.rows(daemon, "select sum(pairs) from journal"), [(200,)])
        self.assertEqual(daemon.stats("a")["pairs"], 600)

    def test_a_journal_that_is_kept_has_everything(self):
        daemon = self.daemon({"a": QUIET}, state=True, journal="keep")
        for start in range(0, 500, 100):
            daemon.own.learn(PAIRS[start:start + 100], 10)
            daemon.ask("snapshot")
        daemon.stop()
        self.assertEqual(self.rows(daemon, "select sum(pairs) from journal"), [(500,)])

    def test_snapshots_come_by_themselves_when_the_journal_has_grown(self):
        daemon = self.daemon({"a": QUIET}, state=True, snapshot_bytes="8KiB")
        daemon.own.learn(PAIRS, 50)
        daemon.until(lambda: daemon.stats("a")["snapshots"] > 0)
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.stats("a")["pairs"], len(PAIRS))

    def test_snapshots_come_by_themselves_after_a_while(self):
        daemon = self.daemon({"a": QUIET}, state=True, snapshot_after="1s")
        daemon.own.learn(PAIRS[:50])
        daemon.until(lambda: daemon.stats("a")["snapshots"] > 0)


if __name__ == "__main__":
    unittest.main()
