"""A stream with a judge in a daemon: its answers, its feed, what it tells, what it keeps."""

import random
import unittest

from phsicd import SMALL, Case, Subscriber, bitext, floats, run, tsv

STREAM = {**SMALL, "judge": True, "quality": 0.5}
LABELLED = [(label == "ok", [x, y]) for label, x, y in bitext(1000, 7, 0.3)]
PAIRS = [pair for _, pair in LABELLED]


class Judged(Case):
    def taught(self, stream=None, pairs=None, **settings):
        """A daemon whose stream has a model of these pairs."""
        daemon = self.daemon({"chat": {**STREAM, **(stream or {})}}, **settings)
        daemon.own.learn(PAIRS[:600] if pairs is None else pairs)
        daemon.ask("refresh")
        return daemon

    def test_answers_have_qualities_and_decisions_by_them(self):
        daemon = self.taught()
        answer = daemon.ask("score", pairs=PAIRS[600:])
        self.assertEqual(len(answer["qualities"]), 400)
        for quality, decision, reason in zip(answer["qualities"], answer["decisions"],
                                             answer["reasons"]):
            self.assertTrue(0 <= quality <= 1)
            self.assertEqual(decision, "keep" if quality >= 0.5 else "drop")
            self.assertEqual(reason is None, decision == "keep")
            self.assertNotEqual(reason, "cut")
        good = [q for (is_good, _), q in zip(LABELLED[600:], answer["qualities"]) if is_good]
        bad = [q for (is_good, _), q in zip(LABELLED[600:], answer["qualities"]) if not is_good]
        self.assertGreater(sum(good) / len(good), 0.4 + sum(bad) / len(bad))
        self.assertEqual(daemon.stats("chat")["reasons"],
                         {reason: answer["reasons"].count(reason)
                          for reason in set(answer["reasons"]) - {None}})

    def test_before_there_is_a_judge_there_are_no_qualities(self):
        daemon = self.daemon({"chat": STREAM})
        answer = daemon.ask("score", pairs=PAIRS[:2])
        self.assertNotIn("qualities", answer)
        self.assertEqual(answer["reasons"], ["no_model"] * 2)
        daemon.own.learn(PAIRS[:200])  # 40 of them are held back
        daemon.ask("refresh")
        asked = [*PAIRS[:2], (PAIRS[2][0], PAIRS[90][1])]
        answer = daemon.ask("score", pairs=asked)
        self.assertNotIn("qualities", answer)
        # The usual p-value decides.
        self.assertEqual(answer["decisions"],
                         ["keep" if p <= 0.05 else "drop" for p in answer["p_values"]])
        self.assertEqual(set(answer["decisions"]), {"keep", "drop"})
        self.assertEqual(set(answer["reasons"]), {None, "cut"})
        self.assertNotIn("junk_share", daemon.stats("chat"))

    def test_a_stream_without_a_judge_tells_none_of_it(self):
        daemon = self.daemon({"chat": SMALL})
        daemon.own.learn(PAIRS[:600])
        daemon.ask("refresh")
        self.assertNotIn("qualities", daemon.ask("score", pairs=PAIRS[:2]))
        self.assertNotIn("quality", daemon.ask("explain", pairs=PAIRS[:1]))
        self.assertNotIn("damage", daemon.stats("chat"))

    def test_what_a_rule_rejects_has_no_quality_left(self):
        daemon = self.taught({"rules": "default"}, defaults={"duplicates": "learn"})
        answer = daemon.ask("score", pairs=[["", "b"], PAIRS[0]])
        self.assertEqual(answer["reasons"][0], "no_empty(left)")
        self.assertEqual(answer["qualities"][0], 0)
        self.assertGreater(answer["qualities"][1], 0)

    def test_the_feed_has_qualities_and_flags_what_the_judge_drops(self):
        daemon = self.taught()
        subscriber = Subscriber(daemon)
        pairs = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(PAIRS[600:700])]
        answer = daemon.ask("score-and-learn", pairs=pairs, wait=True)
        found = subscriber.catch_up()
        scores = [message for topic, message in found if topic == "score"]
        self.assertEqual([(m["decision"], m["reason"]) for m in scores],
                         list(zip(answer["decisions"], answer["reasons"])))
        for message, quality in zip(scores, answer["qualities"], strict=True):
            self.assertAlmostEqual(message["quality"], quality, delta=1e-5)
        self.assertEqual([m["id"] for topic, m in found if topic == "flag"],
                         [i for i, decision in enumerate(answer["decisions"]) if decision == "drop"])

    def test_statistics_tell_how_much_is_damaged_and_how(self):
        stats = self.taught().stats("chat")
        self.assertGreaterEqual(stats["judge_pairs"], 64)
        self.assertIs(stats["judge_sampled"], False)
        self.assertGreater(stats["junk_share"], 0.1)
        self.assertLess(stats["junk_share"], 0.7)
        self.assertAlmostEqual(sum(stats["damage"].values()), stats["junk_share"], delta=1e-4)
        self.assertIn("mismatched", stats["damage"])
        self.assertEqual(stats["cut"], 0.5)

    def test_an_explanation_tells_quality_and_damage(self):
        daemon = self.taught()
        answer = daemon.ask("score", pairs=PAIRS[600:640])
        dropped = 0
        for i, pair in enumerate(PAIRS[600:640]):
            found = daemon.ask("explain", pairs=[pair], top=1)
            self.assertAlmostEqual(found["quality"], answer["qualities"][i], delta=1e-6)
            self.assertEqual(found["decision"], answer["decisions"][i])
            self.assertEqual(found["reason"], answer["reasons"][i])
            if found["decision"] == "drop":
                dropped += 1
                self.assertEqual(found["reason"], found["damage"])
        self.assertGreater(dropped, 2)

    def test_the_command_gets_what_the_daemon_says(self):
        daemon = self.taught()
        answer = daemon.ask("score", pairs=PAIRS[600:])
        lines = run("score", "--connect", daemon.service, "--stream", "chat", "--no-learn",
                    "--with", "quality,decision,reason", stdin=tsv(PAIRS[600:])).splitlines()
        for i, line in enumerate(lines):
            quality, decision, reason, _ = line.split("\t")[2:]
            self.assertAlmostEqual(float(quality), answer["qualities"][i], delta=1e-5)
            self.assertEqual((decision, reason or None),
                             (answer["decisions"][i], answer["reasons"][i]))

    def test_workers_and_batches_make_no_difference(self):
        daemon = self.taught({"workers": 3})
        whole = daemon.ask("score", pairs=PAIRS[600:])["qualities"]
        parts = [daemon.ask("score", pairs=[pair])["qualities"][0] for pair in PAIRS[600:640]]
        self.assertEqual(parts, whole[:40])
        self.assertEqual(self.taught({"workers": 1}).ask("score", pairs=PAIRS[600:])["qualities"],
                         whole)

    def test_a_judge_is_the_same_after_a_kill(self):
        daemon = self.daemon({"chat": STREAM}, state=True)
        peer = self.daemon({"chat": STREAM})
        for part, snapshot in ((PAIRS[:500], True), (PAIRS[500:700], False),
                               (PAIRS[700:], False)):
            for one in (daemon, peer):
                one.own.learn(part)
                one.ask("refresh")
            if snapshot:
                daemon.ask("snapshot", stream="chat")
            # Some that the last model does not know.
            daemon.own.learn(PAIRS[:20])
            peer.own.learn(PAIRS[:20])
            daemon.settle(stream="chat")
            before = daemon.ask("score", pairs=PAIRS[:200])
            told = daemon.stats("chat")
            self.assertIn("qualities", before)
            self.assertEqual(before["qualities"],
                             peer.ask("score", pairs=PAIRS[:200])["qualities"])
            daemon.kill()
            daemon.start()
            self.assertEqual(daemon.ask("score", pairs=PAIRS[:200]), before)
            for name in ("junk_share", "damage", "cut"):
                self.assertEqual(daemon.stats("chat")[name], told[name])

    def test_a_reload_goes_from_a_cut_by_p_to_quality_and_back(self):
        daemon = self.taught()
        del daemon.config["streams"]["chat"]["quality"]
        asked = PAIRS[600:]
        by_quality = daemon.ask("score", pairs=asked)

        def reload(reasons_have, **cut):
            chat = daemon.config["streams"]["chat"]
            for name in ("p", "quality"):
                chat.pop(name, None)
            chat.update(cut)
            self.assertEqual(daemon.reload()["refused_reloads"], 0, daemon.log())
            return daemon.until(lambda: reasons_have(
                (answer := daemon.ask("score", pairs=asked))["reasons"]) and answer)

        by_p = reload(lambda reasons: "cut" in reasons, p=0.05)
        self.assertEqual(set(by_p["reasons"]), {None, "cut"})
        for p_value, decision in zip(by_p["p_values"], by_p["decisions"]):
            self.assertEqual(decision == "keep", p_value <= 0.05)
        self.assertEqual(by_p["qualities"], by_quality["qualities"])
        again = reload(lambda reasons: "cut" not in reasons, quality=0.5)
        self.assertEqual(again["reasons"], by_quality["reasons"])
        self.assertEqual(again["decisions"], by_quality["decisions"])

    def test_a_changed_cut_by_quality_outlives_a_kill(self):
        daemon = self.taught(state=True)
        daemon.config["streams"]["chat"].pop("quality")
        daemon.config["streams"]["chat"]["p"] = 0.05
        daemon.reload()
        daemon.until(lambda: "cut" in daemon.ask("score", pairs=PAIRS[600:])["reasons"])
        daemon.settle(stream="chat")
        daemon.kill()
        daemon.config["streams"]["chat"].pop("p")
        daemon.config["streams"]["chat"]["quality"] = 0.5
        daemon.start()
        answer = daemon.ask("score", pairs=PAIRS[600:])
        for quality, decision in zip(answer["qualities"], answer["decisions"]):
            self.assertEqual(decision, "keep" if quality >= 0.5 else "drop")

    def test_a_judge_comes_and_goes_with_the_configuration(self):
        daemon = self.taught(state=True)
        with_judge = daemon.ask("score", pairs=PAIRS[600:700])
        daemon.settle(stream="chat")
        self.assertEqual(daemon.stop(), 0)
        daemon.config["streams"]["chat"] = SMALL
        daemon.start()
        without = daemon.ask("score", pairs=PAIRS[600:700])
        self.assertNotIn("qualities", without)
        self.assertEqual(without["scores"], with_judge["scores"])
        daemon.own.learn(PAIRS[600:620])
        self.assertEqual(daemon.stop(), 0)
        daemon.config["streams"]["chat"] = STREAM
        daemon.start()
        daemon.own.learn(PAIRS[620:])
        daemon.ask("refresh")
        self.assertIn("qualities", daemon.ask("score", pairs=PAIRS[:2]))

    def test_a_cut_by_quality_needs_a_judge(self):
        daemon = self.daemon({"chat": SMALL})
        daemon.config["streams"]["chat"] = {**SMALL, "quality": 0.5}
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        self.assertIn("judge: true", daemon.log())
        self.assertEqual(daemon.stop(), 0)
        self.assertIn("judge: true", daemon.refuses())

    def test_vectors_are_judged_by_whether_y_belongs_to_x(self):
        daemon = self.daemon({"chat": {"encoder": "vectors:dim=4", "judge": True, "quality": 0.5,
                                       "refresh-after": "never"}})
        random.seed(3)
        x = [[random.gauss(0, 1) for _ in range(4)] for _ in range(1200)]
        y = [[value + random.gauss(0, 0.2) for value in row] for row in x]
        # One in eight has another's y.
        learned = [y[i - 1] if i % 8 == 0 else row for i, row in enumerate(y)]
        shape = {"rows": 1200, "dim": 4}
        daemon.ask("learn", floats(x), floats(learned), x=shape, y=shape, wait=True)
        daemon.ask("refresh")
        self.assertEqual(list(daemon.stats("chat")["damage"]), ["mismatched"])

        def judged(of_y):
            answer = daemon.ask("score", floats(x), floats(of_y), x=shape, y=shape)
            self.assertEqual(len(answer["qualities"]), 1200)
            return answer

        good = judged(y)
        bad = judged(y[7:] + y[:7])
        self.assertGreater(sum(good["qualities"]) / 1200, 0.8)
        self.assertLess(sum(bad["qualities"]) / 1200, 0.5)
        self.assertLessEqual(set(bad["reasons"]), {None, "mismatched"})
        self.assertGreater(bad["decisions"].count("drop"), 600)



if __name__ == "__main__":
    unittest.main()
