"""Streams with a judge on the command line: qualities, reasons, model files, a daemon."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from daemon import Daemon
from phsic import IS_SANITIZED, SMALL, Case, attempt, complaint, run, tsv

LANGUAGES = Path(os.environ["PHSIC_BUILD"]) / "two_languages"
PAIRS = 1200 if IS_SANITIZED else 1600
JUDGE = [*SMALL, "--judge", "true"]
QUALITY = ["--quality", 0.5]
# What a judge may find, as docs and journals name it.
DAMAGE = {"mismatched", "cut_off(left)", "cut_off(right)", "words_missing", "words_replaced",
          "scrambled", "spliced(left)", "spliced(right)", "repeated", "glued", "copied_in_part"}


def columns(output):
    return [line.split("\t") for line in output.splitlines()]


def area(good, bad):
    """The probability that a good value is above a bad one."""
    wins = sum((g > b) + 0.5 * (g == b) for g in good for b in bad)
    return wins / (len(good) * len(bad))


class Judged(Case):
    @staticmethod
    def languages(seed):
        """Rows of id, x, y."""
        return columns(subprocess.run(
            [LANGUAGES, "--pairs", str(PAIRS), "--mismatched", "0.25", "--seed", str(seed)],
            capture_output=True, check=True, timeout=60).stdout.decode())

    @classmethod
    def setUpClass(cls):
        cls.rows = cls.languages(1)
        cls.is_good = [row[0].endswith("-matched") for row in cls.rows]
        cls.taught = tsv(row[1:] for row in cls.languages(2))

    def setUp(self):
        super().setUp()
        self.table = self.file("pairs.tsv", tsv(row[1:] for row in self.rows))
        self.labelled = self.file("labelled.tsv", tsv(
            ["ok" if good else "mismatched", *row[1:]]
            for good, row in zip(self.is_good, self.rows)))

    def learned(self, *options):
        """A model file of other pairs."""
        model = self.folder / "m.phsic"
        run("learn", self.file("taught.tsv", self.taught), "-o", model, *JUDGE, *options)
        return model

    def test_a_filter_by_quality_drops_damage_and_names_it(self):
        model = self.learned(*QUALITY)
        found = columns(run("filter", "--model", model, "--annotate", self.table))
        self.assertEqual([row[:2] for row in found], [row[1:] for row in self.rows])
        reasons = {row[3] for row in found if row[2] == "drop"}
        self.assertTrue(reasons & DAMAGE, reasons)
        self.assertNotIn("cut", reasons)
        self.assertEqual({row[3] for row in found if row[2] == "keep"}, {""})
        kept = [row[2] == "keep" for row in found]
        good = [keeps for keeps, is_good in zip(kept, self.is_good) if is_good]
        bad = [keeps for keeps, is_good in zip(kept, self.is_good) if not is_good]
        self.assertGreater(sum(good) / len(good), 0.85)
        self.assertLess(sum(bad) / len(bad), 0.15)
        rejected = self.folder / "rejected.tsv"
        output = run("filter", "--model", model, self.table, "--rejected", rejected)
        self.assertEqual(output, tsv(row[:2] for row in found if row[2] == "keep"))
        self.assertEqual(rejected.read_text(),
                         tsv([*row[:2], row[3]] for row in found if row[2] == "drop"))

    def test_a_pair_is_kept_where_its_quality_is_high_enough(self):
        model = self.learned()
        scored = columns(run("score", "--model", model, "--quality", 0.7,
                             "--with", "quality,decision,reason", self.table))
        for *_, quality, decision, reason, _ in scored:
            self.assertEqual(decision, "keep" if float(quality) >= 0.7 else "drop")
            self.assertEqual(reason == "", decision == "keep")
            self.assertTrue(0 <= float(quality) <= 1)
        qualities = [float(row[2]) for row in scored]
        self.assertGreater(area([q for q, good in zip(qualities, self.is_good) if good],
                                [q for q, good in zip(qualities, self.is_good) if not good]), 0.9)

    def test_the_one_number_of_each_line_is_the_one_that_the_cut_goes_by(self):
        model = self.learned(*QUALITY)
        scored = columns(run("score", "--model", model, "--with", "quality,percentile", self.table))
        for cut, column in ((QUALITY, 2), (("--p", 0.01), 3)):
            found = run("filter", "--model", model, *cut, "--score-only", self.table).split()
            self.assertEqual([float(number) for number in found],
                             [float(row[column]) for row in scored])

    def test_a_model_file_gives_blocks_what_it_gives_the_whole(self):
        model = self.learned(*QUALITY)
        whole = run("filter", "--model", model, "--annotate", self.table)
        lines = self.table.read_text().splitlines(keepends=True)
        for size in (1, 300, 700):
            firsts = range(0, 30 if size == 1 else PAIRS, size)
            blocks = [run("filter", "--model", model, "--annotate",
                          stdin="".join(lines[first:first + size])) for first in firsts]
            self.assertTrue(whole.startswith("".join(blocks)))
        # One that was learned for another cut gives the same under this one.
        other = self.folder / "other.phsic"
        run("learn", self.folder / "taught.tsv", "-o", other, *JUDGE, "--p", 0.01)
        self.assertEqual(run("filter", "--model", other, *QUALITY, "--annotate", self.table), whole)
        self.assertNotEqual(run("filter", "--model", other, "--annotate", self.table), whole)

    def test_a_judge_leaves_scores_as_they_are(self):
        self.assertEqual(run("score", *JUDGE, self.table), run("score", *SMALL, self.table))

    def test_threads_make_no_difference(self):
        score = ["score", *JUDGE, "--with", "quality,reason", *QUALITY, self.table]
        self.assertEqual(run(*score, "--threads", 1), run(*score, "--threads", 3))

    def test_one_view_is_judged_as_the_stream_that_it_would_be_without(self):
        options = ["--judge", "true", "--with", "quality", self.table]
        self.assertEqual(run("score", "--view", SMALL[1], *options),
                         run("score", *SMALL, *options))

    def test_what_nobody_can_judge_has_no_quality_and_what_a_rule_rejects_has_none_left(self):
        lines = ["".join(f"{text}\t" for text in row[1:])[:-1] for row in self.rows]
        found = columns(run("score", *JUDGE, "--with", "quality", stdin="\n".join(
            [*lines, "\tb", "bad line", *lines[:1]]) + "\n"))
        self.assertEqual({row[2] for row in found[:100]}, {"nan"})
        self.assertEqual(float(found[PAIRS][2]), 0)
        self.assertEqual(found[PAIRS + 1][-2], "nan")
        self.assertEqual(float(found[PAIRS + 2][2]), 0)  # a duplicate
        without = columns(run("score", *SMALL, "--with", "quality", self.table))
        self.assertEqual({row[2] for row in without}, {"nan"})

    def test_an_explanation_from_a_model_file_has_quality_and_damage(self):
        model = self.learned(*QUALITY)
        scored = columns(run("score", "--model", model, "--with", "quality,reason",
                             stdin=tsv(row[1:] for row in self.rows[:12])))
        for x, y, quality, reason, _ in scored:
            found = json.loads(run("explain", "--model", model, "--json", x, y))
            self.assertAlmostEqual(found["quality"], float(quality), delta=1e-5)
            self.assertIn(found["damage"], DAMAGE)
            self.assertEqual(found["reason"], reason or None)
            self.assertIn(reason, ("", found["damage"]))

    def test_offline_and_in_a_daemon_words_and_experts_are_the_same(self):
        folder = self.folder / "daemon"
        folder.mkdir()
        daemon = Daemon(folder, "streams.default.judge=true", f"state={folder}/state.db")
        self.addCleanup(daemon.stop)
        run("score", self.file("taught.tsv", self.taught), *daemon.connect)
        run("refresh", *daemon.connect)
        model = self.folder / "saved.phsic"
        run("save", *daemon.connect, "-o", model)
        for _, x, y in self.rows[:6]:
            online = json.loads(run("explain", *daemon.connect, "--json", x, y))
            offline = json.loads(run("explain", "--model", model, "--json", x, y))
            self.assertEqual(online["damage"], online["expert"]["damage"])
            for member in ("words", "expert", "raise", "lower"):
                self.assertEqual(online[member], offline[member])
            told = run("explain", *daemon.connect, x, y)
            for part in online["words"]["x"]["raise"]:
                self.assertIn(f'"{part["word"]}"', told)
            for component in online["expert"]["components"]:
                self.assertIn(component["about"], told)

    def test_a_summary_of_a_cut_by_quality_counts_what_the_judge_dropped(self):
        model = self.learned()
        stats = self.folder / "stats.json"
        run("filter", "--model", model, *QUALITY, "--stats", stats, self.table)
        by_quality = json.loads(stats.read_text())
        run("filter", "--model", model, "--p", 0.05, "--stats", stats, self.table)
        by_score = json.loads(stats.read_text())
        self.assertEqual(by_quality["cut"], "quality 0.5")
        self.assertEqual(by_quality["random_share"], by_score["random_share"])
        self.assertEqual(by_quality["p_values"], by_score["p_values"])
        # It goes by no p-value, so nobody can tell.
        self.assertIsNone(by_quality["good_lost_estimate"])
        self.assertEqual(sum(by_quality["reasons"].values()),
                         by_quality["lines"] - by_quality["kept"])

    def test_detection_can_go_by_score_quality_or_judge(self):
        aucs = {}
        for by in ("score", "quality", "judge"):
            found = json.loads(run("eval", "detect", "--json", "--label", 1, "-x", 2, "-y", 3,
                                   *JUDGE, "--by", by, self.labelled))
            aucs[by] = found["auc"]["all"]
            self.assertGreater(found["pairs"], PAIRS / 3)
        self.assertGreater(min(aucs.values()), 0.85)
        self.assertEqual(len(set(aucs.values())), 3)
        self.assertIn("--by", complaint("eval", "detect", "--label", 1, "--by", "luck",
                                        self.labelled, expect=2))

    def test_what_is_wrong_with_a_judge_is_told(self):
        self.assertIn("say `judge: true` (--judge true)",
                      complaint("filter", *SMALL, *QUALITY, self.table))
        self.assertIn("pmi", complaint("score", "--estimator", "pmi", "--judge", "true",
                                       self.table))
        self.assertIn("judge", complaint("score", "--judge", "perhaps", self.table))
        self.assertIn("quality", complaint("filter", *JUDGE, "--quality", "1.5", self.table))
        done = attempt("filter", *JUDGE, *QUALITY, "--p", "0.05", self.table)
        self.assertNotEqual(done.returncode, 0)

    def test_a_judge_from_a_file(self):
        config = self.file("judge.yaml", json.dumps(
            {"encoder": SMALL[1], "judge": True, "quality": 0.5}))
        self.assertEqual(run("filter", "--config", config, "--annotate", self.table),
                         run("filter", *JUDGE, *QUALITY, "--annotate", self.table))

    def test_with_a_daemon_qualities_and_decisions_are_those_without(self):
        folder = self.folder / "daemon"
        folder.mkdir()
        daemon = Daemon(folder, "streams.default.judge=true", "streams.default.quality=0.5")
        self.addCleanup(daemon.stop)
        score = ["score", "--with", "quality,decision,reason", self.table]
        online = columns(run(*score, *daemon.connect))
        offline = columns(run(*score, *JUDGE, *QUALITY))
        self.assertEqual([row[3:5] for row in online], [row[3:5] for row in offline])
        self.assertIn("keep", {row[3] for row in offline})
        self.assertTrue({row[4] for row in offline} & DAMAGE)
        for ours, theirs in zip(online, offline):
            a, b = float(ours[2]), float(theirs[2])
            self.assertEqual(a == a, b == b)
            if a == a:
                self.assertAlmostEqual(a, b, delta=2e-5)


if __name__ == "__main__":
    unittest.main()
