"""A daemon gives the scores that the command gives, however the pairs come."""

import statistics
import unittest

from phsicd import OPEN, SMALL, Case, pairs_of, run, tsv

PAIRS = pairs_of(2500, 3, 0.2)
KINDS = [
    {"encoder": "hashing:dim=128"},
    {"encoder": "hashing:dim=64", "kernel": "gaussian:sigma=median", "pivots": 40,
     "half-life": 800, "estimator": "whitened"},
    {"encoder": "hashing:dim=64", "estimator": "pmi"},
]


# Pairs that come again, soon and late, in other letters and with other numbers, and pairs that no
# stream learns by default.
def mixed(pairs):
    for place, (x, y) in enumerate(pairs):
        yield [x, y]
        for every, more in ((5, [x, y]), (7, [x.upper(), f"{y}, {place}"]), (11, pairs[place // 2]),
                            (13, [x, ""]), (17, [y, y]), (19, [x, "... 12:30"])):
            if place % every == 3:
                yield more


MIXED = list(mixed(PAIRS))


def offline(options, pairs, decide=OPEN):
    arguments = [word for key, value in {**options, **decide}.items()
                 for word in (f"--{key}", str(value))]
    return [float(line) for line in
            run("score", *arguments, "--score-only", stdin=tsv(pairs)).splitlines()]


class SameScores(Case):
    def online(self, options, at_once, pairs=PAIRS, decide=OPEN):
        """Scores of a client that waits, and never sends more than there is room for."""
        daemon = self.daemon({"s": {**options, "refresh-after": "never"}}, defaults=decide)
        # A stream that counts has no models to wait for.
        room = daemon.ask("learn", pairs=[], wait=True).get("room", at_once)
        scores = []
        while len(scores) < len(pairs):
            count = min(room, at_once)
            answer = daemon.ask("score-and-learn", wait=True,
                                pairs=pairs[len(scores):len(scores) + count])
            scores += answer["scores"]
            if (left := room - answer["learned"]) > 0 and "room" in answer:
                self.assertEqual(answer["room"], left)  # what is not learned brings no model nearer
            room = answer.get("room", at_once)
        return scores, daemon

    def assert_same(self, found, expected):
        self.assertEqual(len(found), len(expected))
        bound = 1e-5 * statistics.pstdev(expected)
        self.assertGreater(bound, 0)
        for place, (a, b) in enumerate(zip(found, expected)):
            printed = 5e-6 * abs(b)  # the command writes six digits
            self.assertLess(abs(a - b), bound + printed, f"pair {place}: found {a}, expected {b}")

    def test_a_client_that_waits_gets_the_scores_of_the_command(self):
        for options in KINDS:
            expected = offline(options, PAIRS)
            for at_once in (7, 256):
                with self.subTest(options=options, at_once=at_once):
                    self.assert_same(self.online(options, at_once)[0], expected)

    def test_pairs_may_come_one_by_one(self):
        self.assert_same(self.online(KINDS[0], 1)[0], offline(KINDS[0], PAIRS))

    def test_pairs_that_are_not_learned_do_not_change_that(self):
        for options in KINDS:
            expected = offline(options, MIXED, {})
            for at_once in (7, 256):
                with self.subTest(options=options, at_once=at_once):
                    scores, daemon = self.online(options, at_once, MIXED, {})
                    self.assert_same(scores, expected)
                    found = daemon.stats("s")
                    self.assertGreater(found["not_learned"], 200)
                    self.assertEqual(found["pairs"] + found["not_learned"], len(MIXED))
                    is_counted = options.get("estimator") == "pmi"
                    self.assertEqual({"duplicate", "near_duplicate"} <= set(found["reasons"]),
                                     not is_counted, found["reasons"])

    def test_a_refresh_in_the_end_gives_the_same_numbers_whatever_the_requests_were(self):
        found = [self.online(KINDS[0], at_once)[1].ask("refresh", all=True)
                 for at_once in (31, 256, 1000)]
        for answer in found:
            self.assertEqual(answer.pop("pairs"), len(PAIRS))
            answer.pop("refresh_seconds", None)
            self.assertIn("hsic", answer)
            self.assertEqual(answer, found[0])


class SameStatistics(Case):
    """Pipelined, nobody waits: with models on request only, all that matters is the order."""

    def learned(self, options, at_once, workers):
        daemon = self.daemon({"s": {**options, "refresh": 10**6, "refresh-after": "never",
                                    "workers": workers, "batch-pairs": 100}})
        client = daemon.client()
        for start in range(0, len(PAIRS), at_once):
            client.send({"op": "learn", "id": start, "pairs": PAIRS[start:start + at_once]})
        client.send({"op": "refresh", "all": True, "id": "refresh"})
        client.send({"op": "refresh", "id": "again"})
        answers = {}
        while len(answers) < (len(PAIRS) + at_once - 1) // at_once + 2:
            answer = client.receive()
            self.assertTrue(answer["ok"], answer)
            answers[answer.pop("id")] = answer
        refreshed = answers["refresh"]
        self.assertEqual(refreshed["pairs"], len(PAIRS))
        refreshed.pop("refresh_seconds", None)
        return refreshed, client.ask("score", pairs=PAIRS[:50])["scores"]

    def test_neither_batches_nor_workers_change_the_statistics(self):
        for options in ({}, {"kernel": "gaussian:sigma=1", "pivots": 30, "half-life": 700}):
            options = {"encoder": SMALL["encoder"], **options}
            expected, expected_scores = self.learned(options, 1000, 1)
            self.assertIn("hsic", expected)
            for at_once, workers in ((1, 3), (7, 1), (7, 3), (256, 3)):
                with self.subTest(options=options, at_once=at_once, workers=workers):
                    found, scores = self.learned(options, at_once, workers)
                    self.assertEqual(found, expected)
                    self.assertEqual(scores, expected_scores)


if __name__ == "__main__":
    unittest.main()
