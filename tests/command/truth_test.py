"""What `phsic filter` promises, on streams whose truth is known."""

import json
import math
import os
import subprocess
import unittest
from pathlib import Path

from phsic import IS_SANITIZED, Case, run, tsv

LANGUAGES = Path(os.environ["PHSIC_BUILD"]) / "two_languages"
MODEL = ["--encoder", "hashing:dim=256"]
PAIRS = 12000


def stream(mismatched, seed, pairs=PAIRS):
    """Pairs of two made-up languages, as (is good, x, y)."""
    out = subprocess.run([LANGUAGES, "--pairs", str(pairs), "--mismatched", str(mismatched),
                          "--seed", str(seed)], capture_output=True, check=True, text=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    return [(not name.endswith("mismatched"), x, y) for name, x, y in rows]


class Truth(Case):
    def decisions(self, pairs, *flags, encoder=MODEL[1]):
        """(decision, reason) of each pair."""
        table = self.file("pairs.tsv", tsv((x, y) for _, x, y in pairs))
        out = run("filter", "--encoder", encoder, "--annotate", *flags, table)
        found = [tuple(line.split("\t")[2:]) for line in out.splitlines()]
        self.assertEqual(len(found), len(pairs))
        return found

    def test_the_rate_of_false_discoveries_is_what_was_asked_for(self):
        realised = {}  # of each share and rate: the rate, and the upper end of its interval of 95%
        for mismatched in (0.3,) if IS_SANITIZED else (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
            pairs = stream(mismatched, 5)
            for rate in (0.05,) if IS_SANITIZED else (0.01, 0.05, 0.1):
                decided = self.decisions(pairs, "--fdr", str(rate), encoder="hashing:dim=128")
                judged = list(zip(pairs, decided))[PAIRS // 5:]
                kept = [good for (good, _, _), (decision, _) in judged if decision == "keep"]
                self.assertGreater(len(kept), PAIRS * (1 - mismatched) / 4)
                interval = rate + 1.96 * math.sqrt(rate * (1 - rate) / len(kept))
                realised[mismatched, rate] = kept.count(False) / len(kept), interval
        # One in forty may be above its interval; more than two of the 18 with mismatched pairs are so
        # in one case of a hundred.
        exceeded = {cell: found for cell, found in realised.items() if found[0] > found[1]}
        self.assertLessEqual(len(exceeded), 0 if IS_SANITIZED else 2, exceeded)
        if "PHSIC_RATES" in os.environ:
            for mismatched in dict.fromkeys(mismatched for mismatched, _ in realised):
                row = [f"{found:.3f}" for (share, _), (found, _) in realised.items()
                       if share == mismatched]
                print(f"| {100 * mismatched:.0f}% | {' | '.join(row)} |")

    def test_a_share_is_kept_in_every_part_of_a_run(self):
        pairs = stream(0.15, 6)
        # Some of them are rejected before they are scored: they count as dropped.
        pairs = [(good, x, x if i % 20 == 0 else y) for i, (good, x, y) in enumerate(pairs)]
        decided = self.decisions(pairs, "--keep", "0.67")
        first = next(i for i, (decision, _) in enumerate(decided) if decision == "drop" and i > 300)
        tenth = PAIRS // 10
        for part in range(first // tenth + 1, 10):
            kept = sum(decision == "keep" for decision, _ in decided[part * tenth:(part + 1) * tenth])
            self.assertAlmostEqual(kept / tenth, 0.67, delta=0.05, msg=f"part {part}")

    def test_pairs_do_not_vouch_for_themselves_in_two_passes(self):
        pairs = stream(0.3, 8)[:2000]
        table = self.file("pairs.tsv", tsv((x, y) for _, x, y in pairs))

        def small_among_mismatched(model=None, *flags):
            how = ["--two-pass"] if model is None else ["--model", model]
            out = run("score", *how, "--with", "p-value", *flags, table)
            found = [float(line.split("\t")[2]) for line in out.splitlines()]
            mismatched = [p for p, (good, _, _) in zip(found, pairs) if not good]
            return sum(p <= 0.05 for p in mismatched) / len(mismatched)

        # A share of 0.05 of about 600, and three standard errors.
        most = 0.05 + 3 * 0.009
        self.assertLess(small_among_mismatched(), most)
        # The same with two models in one.
        parts = []
        for name, part in (("a", pairs[:1000]), ("b", pairs[1000:])):
            half = self.file(f"{name}.tsv", tsv((x, y) for _, x, y in part))
            parts.append(self.folder / f"{name}.phsic")
            run("learn", half, "-o", parts[-1])
        both = self.folder / "both.phsic"
        run("state", "merge", *parts, "-o", both)
        self.assertLess(small_among_mismatched(both), most)
        self.assertGreater(small_among_mismatched(None, "--keep-own-share"), 0.5)

    def test_good_pairs_lost_are_estimated_without_labels(self):
        for mismatched in (0.4,) if IS_SANITIZED else (0.1, 0.4):
            pairs = stream(mismatched, 9)[:5000]
            table = self.file("pairs.tsv", tsv((x, y) for _, x, y in pairs))
            stats = self.folder / "stats.json"
            for cut in (["--p", "0.01"], ["--keep", "0.4"], ["--percentile", "0.7"]):
                out = run("filter", *MODEL, "--two-pass", "--stats", stats, "--annotate",
                          "--duplicates", "learn", "--rules", "none", *cut, table)
                told = json.loads(stats.read_text())
                dropped = [line.split("\t")[2] == "drop" for line in out.splitlines()]
                good = [lost for lost, (is_good, _, _) in zip(dropped, pairs) if is_good]
                with self.subTest(mismatched=mismatched, cut=cut):
                    self.assertAlmostEqual(told["random_share"], mismatched, delta=0.06)
                    self.assertAlmostEqual(told["good_lost_estimate"], sum(good) / len(good),
                                           delta=0.06)

    def test_boilerplate_does_not_vouch_for_itself(self):
        pairs = stream(0.05, 7, PAIRS if IS_SANITIZED else 29000)
        boiler = (False, "kabira lumo kabira", "zzyx qwo zzyx")
        for i in range(50):
            pairs.insert(2000 + i * (len(pairs) - 2000) // 50, boiler)
        pairs.insert(9000, (False, "dimima gekore noriri", "dimima gekore noriri"))
        decided = self.decisions(pairs, "--p", "0.01")
        copies = [decided[i] for i, pair in enumerate(pairs) if pair == boiler]
        self.assertEqual(len(copies), 50)
        self.assertEqual(copies[0], ("drop", "cut"))
        self.assertEqual(set(copies[1:]), {("drop", "duplicate")})
        self.assertEqual(decided[9000], ("drop", "no_identical"))


if __name__ == "__main__":
    unittest.main()
