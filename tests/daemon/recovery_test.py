"""A daemon that is killed and stopped again and again does as one that is left in peace."""

import unittest

from phsicd import SMALL, Case, floats, pairs_of

# Models come on request alone, so that what is in the journal is what the test has sent.
QUIET = {**SMALL, "refresh": 10**6}
PAIRS = pairs_of(600, 61)
LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zqxjkvbpygfwmucldrhsnioate")

# What a stream tells of what it has learned.
FIGURES = ("pairs", "model", "epoch", "estimator", "ridge", "model_pairs", "effective_pairs",
           "self_auc", "self_mrr", "recall_at_1", "random_share", "hsic", "cka", "p_value",
           "refreshes")


class Recovery(Case):
    def ask(self, daemon, op, pairs, **members):
        return daemon.ask(op, pairs=pairs, **members)

    def teach(self, daemon, pairs):
        """As one client that waits, and sends no more than there is room for."""
        room = 1
        while pairs:
            answer = self.ask(daemon, "score-and-learn", pairs[:room], wait=True,
                              promise="durable")
            pairs = pairs[room:]
            room = min(answer.get("room", 100), 100)

    def look(self, daemon, probes):
        """All that can be seen of what was learned."""
        stats = daemon.ask("stats", stream="s", calibration=True)
        figures = {name: stats["streams"]["s"][name] for name in FIGURES
                   if name in stats["streams"]["s"]}
        return {**self.ask(daemon, "score", probes), **figures, "calibration":
                stats.get("calibration", stats["streams"]["s"].get("calibration"))}

    def assert_survives(self, options, pairs, probes):
        """Returns what was seen before the last end."""
        streams = {"s": {"refresh-after": "never", **options}}
        peaceful = self.daemon(streams, state=True)
        daemon = self.daemon(streams, state=True)
        begin = 0
        for share, prepare, end in (
                (0.31, None, daemon.kill),  # the journal alone is left
                (0.52, None, daemon.kill),
                (0.61, "snapshot", daemon.kill),  # a snapshot alone
                (0.78, None, daemon.kill),  # a snapshot and the journal since
                (0.89, None, daemon.stop),  # the snapshot of the end
                (1, "refresh", daemon.kill)):
            count = int(share * len(pairs))
            for one in (peaceful, daemon):
                self.teach(one, pairs[begin:count])
                if prepare and not (prepare == "refresh" and options.get("estimator") == "pmi"):
                    one.ask(prepare)
                    one.settle()
            seen = self.look(daemon, probes)
            self.assertEqual(seen, self.look(peaceful, probes), f"before the end at {share}")
            end()
            daemon.start()
            self.assertEqual(self.look(daemon, probes), seen, f"after the end at {share}")
            stats = daemon.stats("s")
            self.assertEqual((stats["recovered"], stats["lost"]), (count, 0))
            begin = count
        self.assertEqual(seen["pairs"], len(pairs))
        self.assertGreater(len(set(seen["scores"])), 20)
        return seen

    @staticmethod
    def timed(pairs):
        return [{"x": x, "y": y, "time": 1.7e9 + 2 * i} for i, (x, y) in enumerate(pairs)]

    def test_a_stream_of_words(self):
        seen = self.assert_survives({"encoder": "hashing:dim=128"},
                                    self.timed(pairs_of(1200, 72, 0.2)), pairs_of(60, 71, 0.5))
        self.assertGreater(seen["model"], 3)
        self.assertEqual(len(seen["p_values"]), 60)

    def test_pivots_that_change(self):
        other = [[x.translate(LETTERS), " ".join(word[::-1] for word in y.split())]
                 for x, y in pairs_of(800, 74)]
        seen = self.assert_survives(
            {"encoder": "hashing:dim=128", "kernel": "gaussian:sigma=median", "pivots": 30,
             "half-life": 300, "held-back": 100, "reservoir": 300, "refresh": 150},
            self.timed(pairs_of(600, 73) + other), other[:30] + pairs_of(30, 71, 0.5))
        self.assertGreater(seen["epoch"], 1)

    def test_a_half_life_in_pairs(self):
        self.assert_survives(
            {"encoder": "hashing:dim=64", "half-life": 200, "estimator": "whitened"},
            self.timed(pairs_of(900, 75, 0.2)), pairs_of(60, 71, 0.5))

    def test_a_window_in_seconds(self):
        seen = self.assert_survives({"encoder": "hashing:dim=64", "window": "10m"},
                                    self.timed(pairs_of(900, 76, 0.2)), pairs_of(60, 71, 0.5))
        self.assertLess(seen["effective_pairs"], 400)

    def test_counts(self):
        few = pairs_of(60, 77, 0.3)
        often = [few[int(i ** 1.5) % (i % 60 + 1)] for i in range(700)]
        self.assert_survives({"estimator": "pmi"}, self.timed(often), few)

    def test_vectors_sent_as_numbers(self):
        def ask(daemon, op, pairs, **members):
            shape = {"rows": len(pairs), "dim": 8}
            return daemon.ask(op, *map(floats, zip(*pairs)), x=shape, y=shape, **members)

        self.ask = ask
        pairs = [[[text.count(letter) for letter in letters]
                  for text, letters in zip(pair, ("aeiorstn", "абвгдежз"))]
                 for pair in pairs_of(900, 78)]
        self.assert_survives({"encoder": "vectors:dim=8"}, pairs, pairs[:60])

    def test_a_refresh_that_was_changed_by_a_reload(self):
        pairs = self.timed(pairs_of(800, 79, 0.2))
        daemon, peaceful = (self.daemon({"s": {**SMALL, "refresh": 300}}, state=True)
                            for _ in range(2))
        for one in (daemon, peaceful):
            self.teach(one, pairs[:500])
            one.config["streams"]["s"]["refresh"] = 70
            self.assertEqual(one.reload()["reloads"], 1)
            self.teach(one, pairs[500:700])
        daemon.kill()
        daemon.start()
        for one in (daemon, peaceful):
            self.teach(one, pairs[700:])
        seen = self.look(daemon, PAIRS[:50])
        self.assertEqual(seen, self.look(peaceful, PAIRS[:50]))
        self.assertGreater(seen["model"], 4)

    def test_a_model_that_is_asked_for_is_the_same_after_a_crash(self):
        daemon = self.daemon({"s": QUIET}, state=True)
        daemon.own.learn(PAIRS)
        daemon.ask("refresh")
        daemon.own.learn(PAIRS[:50])
        daemon.ask("refresh", all=True)
        seen = self.look(daemon, PAIRS[:20])
        daemon.settle()
        daemon.kill()
        daemon.start()
        self.assertEqual(self.look(daemon, PAIRS[:20]), seen)

    def test_scores_are_explained_after_a_restart(self):
        daemon = self.daemon({"s": QUIET}, state=True)
        daemon.own.learn(PAIRS)
        daemon.ask("refresh", all=True)
        before = daemon.ask("explain", pairs=PAIRS[:1])
        daemon.settle()
        for end in (daemon.kill, daemon.stop):
            end()
            daemon.start()
            after = daemon.ask("explain", pairs=PAIRS[:1])
            self.assertEqual((after["score"], after["model"]), (before["score"], before["model"]))
            self.assertEqual(len(after["raise"]), 5)


if __name__ == "__main__":
    unittest.main()
