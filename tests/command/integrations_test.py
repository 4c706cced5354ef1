"""The files in examples/ that put phsic into other people's pipelines, used as those use them."""

import gzip
import importlib
import json
import os
import subprocess
import sys
import types
import unittest

from phsic import PHSIC, SMALL, SOURCE, Case, bitext, run, tsv

EXAMPLES = SOURCE / "examples"


def environment():
    """One in which `phsic` is found by its name."""
    folder = os.path.dirname(PHSIC)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


class Integrations(Case):
    def setUp(self):
        super().setUp()
        self.rows = bitext(3000, 3, 0.2)
        self.pairs = [(x, y) for _, x, y in self.rows]
        self.corpus = self.file("corpus.tsv", tsv(self.pairs))
        self.model = self.folder / "m.phsic"
        run("learn", *SMALL, "--p", "0.01", self.corpus, "-o", self.model)

    def kept(self, *flags):
        return run("filter", "--model", self.model, *flags, self.corpus)

    # OpusCleaner sets each parameter as a variable of the environment, and runs the command with the
    # lines of a batch, side \t side, on its standard input; what it prints is kept.
    def opus_cleaner(self, name, table, **chosen):
        filter_ = json.loads((EXAMPLES / "opuscleaner" / name).read_text())
        self.assertEqual(filter_["type"], "bilingual")
        values = {}
        for parameter, about in filter_["parameters"].items():
            self.assertIn(about["type"], ("str", "float", "bool", "int"))
            value = chosen.pop(parameter, about.get("default"))
            self.assertFalse(about.get("required") and value is None, f"{parameter} is required")
            if value in about.get("allowed_values", [value]):
                values[parameter] = str(value)
        self.assertEqual(chosen, {}, "every value is a parameter of the filter")
        command = filter_["command"].replace("../threshold.py", f"{sys.executable} threshold.py")
        return subprocess.run(command, shell=True, input=table.encode(), cwd=self.folder,
                              env={**environment(), "TMPDIR": str(self.folder), **values},
                              capture_output=True, check=True).stdout.decode()

    def test_opuscleaner_keeps_what_filter_keeps_whatever_the_batches(self):
        expected = self.kept("--p", "0.01")
        self.assertTrue(0.5 < expected.count("\n") / len(self.rows) < 0.9)
        lines = tsv(self.pairs).splitlines(keepends=True)
        batches = ["".join(lines[first:first + 700]) for first in range(0, len(lines), 700)]
        found = [self.opus_cleaner("phsic.json", batch, MODEL=self.model) for batch in batches]
        self.assertEqual("".join(found), expected)
        strict = self.opus_cleaner("phsic.json", tsv(self.pairs), MODEL=self.model, P=0.0005)
        self.assertLess(strict.count("\n"), expected.count("\n"))

    def test_opuscleaner_threshold_gets_one_float_for_each_line(self):
        # Its threshold.py runs a command on the lines and keeps those whose number is large enough.
        self.file("threshold.py", """
import argparse, subprocess, sys
parser = argparse.ArgumentParser()
parser.add_argument("--cache")
parser.add_argument("threshold", type=float)
parser.add_argument("command", nargs=argparse.REMAINDER)
arguments = parser.parse_args()
open(arguments.cache, "w").close()
lines = sys.stdin.buffer.readlines()
scores = subprocess.run(arguments.command, input=b"".join(lines), stdout=subprocess.PIPE,
                        check=True).stdout.splitlines()
assert len(scores) == len(lines), (len(scores), len(lines))
for line, score in zip(lines, scores):
    if float(score) >= arguments.threshold:
        sys.stdout.buffer.write(line)
""")
        table = tsv(self.pairs) + "\tnothing on the left\nonly one column\n"
        found = self.opus_cleaner("phsic_score.json", table, MODEL=self.model, THRESHOLD=0.5)
        share = found.count("\n") / len(self.rows)
        self.assertTrue(0.4 < share < 0.6, f"half of the pairs are kept, found {share}")
        self.assertNotIn("nothing on the left", found)
        # Scores of another model are not found in the cache, whatever its name.
        self.opus_cleaner("phsic_score.json", table, MODEL=self.model)
        self.assertEqual(len(list(self.folder.glob("*.dbm"))), 1)
        run("learn", *SMALL, "--p", "0.02", self.corpus, "-o", self.model, "--force")
        self.opus_cleaner("phsic_score.json", table, MODEL=self.model)
        self.assertEqual(len(list(self.folder.glob("*.dbm"))), 2)

    def test_opusfilter_takes_the_filter_as_its_own(self):
        # The interface that its documentation asks of custom filters.
        opusfilter = types.ModuleType("opusfilter")

        class FilterABC:
            def __init__(self, name=None, workdir="", **kwargs):
                self.name = name
                assert not kwargs, kwargs

            def filter(self, pairs):
                pairs = list(pairs)
                for pair, score in zip(pairs, self.score(pairs)):
                    if self.accept(score):
                        yield pair

        opusfilter.FilterABC = FilterABC
        opusfilter.CLEAN_HIGH = "clean_high"
        sys.modules["opusfilter"] = opusfilter
        sys.path.insert(0, str(EXAMPLES / "opusfilter"))
        self.addCleanup(sys.path.remove, str(EXAMPLES / "opusfilter"))
        self.addCleanup(sys.modules.pop, "opusfilter")
        module = importlib.import_module("phsic_filter")
        module.CHUNK = 700
        filter_ = module.PhsicFilter(model=self.model, threshold=0.5, command=PHSIC, name="p")
        self.assertEqual(filter_.score_direction, "clean_high")
        pairs = [*self.pairs, ("a tab\tinside", "and a\nnewline"), ("", "")]
        scores = list(filter_.score(iter(pairs)))
        self.assertEqual(len(scores), len(pairs))
        self.assertTrue(all(0 <= score <= 1 for score in scores))
        self.assertEqual(scores[-1], 0)
        self.assertTrue(all(filter_.accept_threshold <= s < filter_.reject_threshold for s in scores))
        labels = [label for label, _, _ in self.rows]
        good = [s for s, label in zip(scores, labels) if label == "ok"]
        bad = [s for s, label in zip(scores, labels) if label != "ok"]
        self.assertGreater(sum(good) / len(good), sum(bad) / len(bad) + 0.2)
        self.assertEqual(len(list(filter_.filter(pairs))), sum(s >= 0.5 for s in scores))

    def test_blocks_give_what_one_process_gives(self):
        lines = tsv(self.pairs).splitlines(keepends=True)
        # One block is of nothing but bad lines, which is no reason to end the others.
        lines[999:999] = ["only one column\n"] * 500
        self.corpus.write_text("".join(lines))
        corpus = self.folder / "corpus.tsv.gz"
        corpus.write_bytes(gzip.compress("".join(lines).encode()))
        out = self.folder / "kept.tsv.gz"
        flags = [f"CORPUS={corpus}", f"OUT={out}", "BLOCK=333", "JOBS=3",
                 f"LEARN={' '.join(SMALL)} --p 0.01"]
        subprocess.run(["make", "-s", "-f", EXAMPLES / "blocks" / "Makefile", *flags],
                       env=environment(), check=True, stderr=subprocess.DEVNULL)
        self.assertEqual(gzip.decompress(out.read_bytes()).decode(), self.kept())


if __name__ == "__main__":
    unittest.main()
