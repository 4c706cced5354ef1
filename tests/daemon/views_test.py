"""A stream with several views in a daemon: its answers, what it tells, what it keeps."""

import json
import unittest

from phsicd import OPEN, Case, floats, pairs_of, run, tsv

VIEWS = ["hashing:dim=64", {"name": "grams", "encoder": "hashing:dim=128,words=false,seed=2",
                            "ridge": 0.3}]
STREAM = {"views": VIEWS, "refresh-after": "never"}
PAIRS = pairs_of(1200, 7, 0.2)


class Views(Case):
    def teach(self, daemon, pairs):
        """As one client that waits, and sends no more than there is room for."""
        scores, room = [], 1
        while pairs:
            answer = daemon.ask("score-and-learn", pairs=pairs[:room], wait=True)
            scores += answer["scores"]
            pairs = pairs[room:]
            room = min(answer["until_refresh"], 100)
        return scores

    def test_scores_are_those_of_the_command(self):
        daemon = self.daemon({"chat": STREAM})
        online = self.teach(daemon, PAIRS)
        config = daemon.folder / "views.yaml"
        config.write_text(json.dumps({"views": VIEWS, **OPEN}))
        offline = run("score", "--config", config, "--score-only", stdin=tsv(PAIRS)).split()
        for found, expected in zip(online, map(float, offline), strict=True):
            self.assertAlmostEqual(found, expected, delta=1e-4 * (1 + abs(expected)))
        self.assertGreater(len(set(online)), 300)
        remote = run("score", "--connect", daemon.service, "--no-learn", "--config", config,
                     "--score-only", stdin=tsv(PAIRS[:50])).split()
        answer = daemon.ask("score", pairs=PAIRS[:50])
        for found, expected in zip(map(float, remote), answer["scores"], strict=True):
            self.assertAlmostEqual(found, expected, delta=1e-4 * (1 + abs(expected)))

    def test_what_each_view_counts_and_says_is_told(self):
        daemon = self.daemon({"chat": STREAM})
        self.teach(daemon, PAIRS)
        stats = daemon.stats("chat")
        self.assertEqual(set(stats["view_weights"]), {"hashing", "grams"})
        self.assertAlmostEqual(sum(stats["view_weights"].values()), 1)
        self.assertGreater(stats["view_self_aucs"]["hashing"], 0.6)
        explained = daemon.ask("explain", pairs=PAIRS[:1], top=3)
        self.assertEqual([view["name"] for view in explained["views"]], ["grams", "hashing"])
        self.assertLessEqual(len(explained["raise"]), 3)
        request = {"op": "score", "stream": "chat", "x": {"rows": 1, "dim": 2},
                   "y": {"rows": 1, "dim": 2}}
        self.assertEqual(daemon.own.error(request, floats([[1, 2]]), floats([[3, 4]])),
                         "wrong_shape")

    def test_a_stream_with_views_goes_on_after_a_kill_as_if_nothing_had_been(self):
        daemon = self.daemon({"chat": STREAM}, state=True)
        peer = self.daemon({"chat": STREAM})
        for part, snapshot in ((PAIRS[:500], True), (PAIRS[500:900], False), (PAIRS[900:], False)):
            self.assertEqual(self.teach(daemon, part), self.teach(peer, part))
            if snapshot:
                daemon.ask("snapshot", stream="chat")
            daemon.settle(stream="chat")
            before = daemon.ask("score", pairs=PAIRS[:100])
            daemon.kill()
            daemon.start()
            self.assertEqual(daemon.ask("score", pairs=PAIRS[:100]), before)
        self.assertEqual(daemon.stats("chat")["view_weights"], peer.stats("chat")["view_weights"])

    def test_other_views_are_another_stream(self):
        daemon = self.daemon({"chat": STREAM}, state=True)
        self.teach(daemon, PAIRS[:300])
        daemon.config["streams"]["chat"] = {**STREAM, "views": VIEWS[:1]}
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        self.assertIn("streams.chat.views", daemon.log())
        self.assertEqual(daemon.stop(), 0)
        self.assertIn("expected", daemon.refuses())


if __name__ == "__main__":
    unittest.main()
