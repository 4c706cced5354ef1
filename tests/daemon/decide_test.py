"""What a daemon decides about pairs, and why: in answers, on the feed, in statistics, after a crash."""

import collections
import unittest

from phsicd import SMALL, Case, Subscriber, floats, pairs_of

# As a stream is by default.
DEFAULTS = {}
TAUGHT = pairs_of(600, 3)


def messages(found, topic):
    return [message for name, message in found if name == topic]


def decided(answer):
    return list(zip(answer["decisions"], answer["reasons"]))


class Decisions(Case):
    def stream(self, options=None, **settings):
        daemon = self.daemon({"chat": {**SMALL, **(options or {})}}, defaults=DEFAULTS, **settings)
        return daemon

    def test_nothing_is_decided_before_there_is_a_model(self):
        daemon = self.stream()
        answer = daemon.ask("score", pairs=[["a b", "c d"], ["", "c"]])
        self.assertEqual(decided(answer), [("undecided", "no_model"), ("drop", "no_empty(left)")])
        found = daemon.stats("chat")
        self.assertEqual((found["kept"], found["flagged"], found["undecided"], found["not_learned"]),
                         (0, 1, 1, 0))
        self.assertEqual(found["reasons"], {"no_model": 1, "no_empty(left)": 1})
        self.assertNotIn("cut", found)

    def test_the_cut_goes_by_the_p_value(self):
        daemon = self.stream({"p": 0.2})
        daemon.own.learn(TAUGHT)
        daemon.ask("refresh")
        answer = daemon.ask("score", pairs=pairs_of(200, 8, 0.5))
        cut = daemon.stats("chat")["cut"]
        for score, p_value, decision in zip(answer["scores"], answer["p_values"], decided(answer)):
            kept = p_value <= 0.2
            self.assertEqual(decision, ("keep", None) if kept else ("drop", "cut"))
            self.assertEqual(score >= cut * (1 - 1e-6), kept)
        self.assertEqual(len({verdict for verdict, _ in decided(answer)}), 2)

    def test_what_a_rule_rejects_is_not_learned(self):
        daemon = self.stream()
        answer = daemon.ask("learn", pairs=[["", "b"], ["one thing", "another"]], wait=True)
        self.assertEqual((answer["learned"], answer["not_learned"]), (1, 1))
        answer = daemon.ask("score-and-learn", pairs=[["so it is", " "], ["it was", "so far"]],
                            wait=True)
        self.assertEqual((answer["learned"], answer["not_learned"]), (1, 1))
        self.assertEqual(answer["reasons"][0], "no_empty(right)")
        self.assertEqual(daemon.stats("chat")["pairs"], 2)
        self.assertEqual(daemon.stats("chat")["not_learned"], 2)

    def test_a_pair_that_came_before_is_dropped_where_it_teaches(self):
        daemon = self.stream({"workers": 2})
        pair, near = ["Call us at 555!", "Rufen Sie uns an: 555"], ["call us at 123", "rufen sie uns an 123"]
        answer = daemon.ask("score-and-learn", pairs=[pair, pair, near], wait=True)
        self.assertEqual(answer["reasons"], ["no_model", "duplicate", "near_duplicate"])
        self.assertEqual((answer["learned"], answer["not_learned"]), (1, 2))
        # To score alone leaves no trace, and sees none.
        self.assertEqual(daemon.ask("score", pairs=[pair])["reasons"], ["no_model"])
        # A client that sends the same pair again, by its id, is told the same again.
        twice = {"x": "the same", "y": "again", "id": "m-1"}
        for _ in range(2):
            answer = daemon.ask("score-and-learn", pairs=[twice], wait=True)
            self.assertEqual(answer["reasons"], ["no_model"])
        self.assertEqual(answer["duplicates"], 1)
        self.assertEqual(daemon.stats("chat")["duplicates"], 1)

    def test_duplicates_may_be_judged_or_learned(self):
        for policy, learned in ("once", 1), ("learn", 3):
            daemon = self.stream({"duplicates": policy})
            answer = daemon.ask("score-and-learn", pairs=[["same text", "here"]] * 3, wait=True)
            self.assertEqual(answer["learned"], learned)
            self.assertEqual(answer["not_learned"], 3 - learned)
            self.assertEqual(set(answer["reasons"]), {"no_model"})
            self.assertEqual(daemon.stats("chat")["not_learned"], 3 - learned)

    def test_the_feed_has_decisions_and_its_flags_what_is_dropped(self):
        daemon = self.stream({"p": 0.2})
        daemon.own.learn(TAUGHT)
        daemon.ask("refresh")
        subscriber = Subscriber(daemon)
        pairs = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(pairs_of(50, 8, 0.5))]
        answer = daemon.ask("score-and-learn", pairs=pairs + [{"x": " ", "y": "b", "id": 50}], wait=True)
        found = subscriber.catch_up()
        self.assertEqual([(m["decision"], m["reason"]) for m in messages(found, "score")],
                         decided(answer))
        self.assertEqual([m["id"] for m in messages(found, "flag")],
                         [i for i, (verdict, _) in enumerate(decided(answer)) if verdict == "drop"])
        # What can be compared comes first. Every pair was scored.
        for message in messages(found, "score"):
            self.assertEqual(list(message)[:8], ["seq", "via", "id", "percentile", "p_value",
                                                 "decision", "reason", "score"])

    def test_a_reload_changes_the_cut_and_the_rules_at_once(self):
        daemon = self.stream({"p": 0.05})
        daemon.own.learn(TAUGHT)
        daemon.ask("refresh")
        before = daemon.stats("chat")
        pairs = pairs_of(100, 8, 0.5)
        daemon.config["streams"]["chat"] |= {"p": 0.5, "rules": "none"}
        daemon.reload()
        daemon.until(lambda: daemon.stats("chat")["cut"] != before["cut"])
        after = daemon.stats("chat")
        self.assertEqual(after["model"], before["model"])
        self.assertLess(after["cut"], before["cut"])
        answer = daemon.ask("score", pairs=pairs + [["", "b"]])
        self.assertNotIn("no_empty(left)", answer["reasons"])
        self.assertEqual([verdict == "keep" for verdict in answer["decisions"][:-1]],
                         [p_value <= 0.5 for p_value in answer["p_values"][:-1]])

    def test_a_dropped_pair_can_be_asked_about_by_its_id(self):
        daemon = self.stream({"p": 0.2})
        daemon.own.learn(TAUGHT)
        daemon.ask("refresh")
        pairs = [{"x": x, "y": y, "id": f"m-{i}"} for i, (x, y) in enumerate(pairs_of(50, 8, 0.5))]
        answer = daemon.ask("score", pairs=pairs)
        dropped = answer["decisions"].index("drop")
        found = daemon.ask("explain", pair_id=f"m-{dropped}")
        then = found["dropped"]
        self.assertEqual((then["id"], then["decision"], then["reason"]),
                         (f"m-{dropped}", "drop", "cut"))
        self.assertEqual((then["score"], then["model"]),
                         (answer["scores"][dropped], answer["model"]))
        self.assertEqual((then["x"], then["y"]), (pairs[dropped]["x"], pairs[dropped]["y"]))
        self.assertEqual((found["decision"], found["reason"]), ("drop", "cut"))
        self.assertIn("raise", found)
        kept = answer["decisions"].index("keep")
        self.assertEqual(daemon.own.error({"op": "explain", "pair_id": f"m-{kept}"}), "unknown_pair")

    def test_an_explanation_has_the_decision(self):
        daemon = self.stream({"p": 0.2})
        daemon.own.learn(TAUGHT)
        daemon.ask("refresh")
        pair = TAUGHT[0]
        answer = daemon.ask("score", pairs=[pair])
        found = daemon.ask("explain", pairs=[pair])
        self.assertEqual((found["decision"], found["reason"]), decided(answer)[0])
        self.assertAlmostEqual(found["p_value"], answer["p_values"][0], places=4)

    def test_hostile_requests_are_refused(self):
        daemon = self.stream()
        for request in ({"op": "explain", "pair_id": ["m-1"]}, {"op": "explain", "pair_id": None},
                        {"op": "explain", "pair_id": "m", "pairs": [["a", "b"]]},
                        {"op": "score", "pair_id": "m-1"},
                        {"op": "score", "pairs": [["a", "b"]], "decisions": True}):
            self.assertEqual(daemon.own.error(request), "bad_request", request)
        self.assertEqual(daemon.own.error({"op": "explain", "pair_id": "m" * 100}), "unknown_pair")

    def test_vectors_have_duplicates_and_no_rules(self):
        daemon = self.daemon({"v": {"encoder": "vectors:dim=3", "refresh-after": "never"}},
                             defaults=DEFAULTS)
        rows = [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
        shape = {"rows": 3, "dim": 3}
        answer = daemon.ask("score-and-learn", floats(rows), floats(rows), x=shape, y=shape, wait=True)
        self.assertEqual(answer["reasons"], ["no_model", "no_model", "duplicate"])
        self.assertEqual((answer["learned"], answer["not_learned"]), (2, 1))

    def test_a_stream_that_counts_has_rules_and_is_cut_by_its_score(self):
        daemon = self.daemon({"n": {"estimator": "pmi", "score": 0.0}}, defaults=DEFAULTS)
        pairs = [["yes", "no"], ["yes", "no"], ["", "no"], ["up", "down"]]
        answer = daemon.ask("score-and-learn", pairs=pairs, wait=True)
        self.assertEqual((answer["learned"], answer["not_learned"]), (3, 1))
        self.assertEqual(decided(answer)[2], ("drop", "no_empty(left)"))
        for score, decision in zip(answer["scores"], decided(answer)):
            if decision[1] != "no_empty(left)":
                self.assertEqual(decision, ("keep", None) if score >= 0 else ("drop", "cut"))
        self.assertEqual(daemon.stats("n")["cut"], 0)

    def test_a_window_is_cut_like_any_other_stream(self):
        daemon = self.stream({"window": 500, "held-back": 32, "refresh": 100, "keep": 0.5})
        daemon.own.learn(TAUGHT)
        daemon.ask("refresh")
        answer = daemon.ask("score", pairs=pairs_of(200, 9))
        kept = answer["decisions"].count("keep")
        self.assertTrue(50 < kept < 150, kept)


class Recovered(Case):
    """A daemon that was killed decides as one that was not."""

    BLOCKS = [pairs_of(150, seed, 0.3) for seed in range(1, 7)]

    def drive(self, daemon, kills):
        answers = []
        for number, block in enumerate(self.BLOCKS):
            # Some come again, some break a rule.
            block = block + block[:20] + self.BLOCKS[0][:10] + [["", "b"]] * 3
            answers.append(daemon.ask("score-and-learn", pairs=block, wait=True))
            daemon.ask("refresh")
            if number == 2:
                daemon.ask("snapshot")
            if kills and number in (1, 3, 4):
                daemon.ask("learn", pairs=[["the last", f"before {number}"]], wait=True)
                daemon.kill()
                daemon.start()
            elif number in (1, 3, 4):
                daemon.ask("learn", pairs=[["the last", f"before {number}"]], wait=True)
        return answers

    def test_kill_and_recovery_change_no_decision(self):
        for cut in ({"p": 0.1}, {"keep": 0.6}):
            options = {"chat": {**SMALL, "encoder": "hashing:dim=64", **cut}}
            calm = self.daemon(options, defaults=DEFAULTS, state=True)
            killed = self.daemon(options, defaults=DEFAULTS, state=True)
            expected, found = self.drive(calm, False), self.drive(killed, True)
            for number, (one, other) in enumerate(zip(expected, found)):
                for name in ("decisions", "reasons", "scores", "learned", "not_learned"):
                    self.assertEqual(one[name], other[name], (cut, number, name))
            names = ("kept", "flagged", "undecided", "not_learned", "reasons", "cut", "pairs")
            one, other = calm.stats("chat"), killed.stats("chat")
            self.assertEqual({name: one[name] for name in names},
                             {name: other[name] for name in names})
            reasons = collections.Counter(reason for answer in found for reason in answer["reasons"])
            self.assertGreater(reasons["duplicate"], 100)
            self.assertEqual(reasons["no_empty(left)"], 18)


if __name__ == "__main__":
    unittest.main()
