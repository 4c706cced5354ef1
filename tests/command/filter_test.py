"""Filtering: rules, duplicates, the cut, reasons, and everything that is written of them."""

import bz2
import fcntl
import gzip
import json
import lzma
import math
import os
import pty
import struct
import subprocess
import termios
import unittest
from pathlib import Path

from phsic import IS_SANITIZED, PHSIC, SMALL, Case, attempt, bitext, complaint, run, tsv

LANGUAGES = Path(os.environ["PHSIC_BUILD"]) / "two_languages"
EMPTY = "a river\t"
COPY = "the very same words\tthe very same words"
SYMBOLS = "... --- ...\t*** *** ***"


def pairs_of(count, seed, damage=0.0):
    """Lines of different pairs."""
    rows = [(f"{x} {i}x", f"{y} {i}y") for i, (_, x, y) in enumerate(bitext(count, seed, damage))]
    return ["\t".join(row) for row in dict.fromkeys(rows)]


def distinct(count, seed, damage=0.0):
    """Lines of pairs that differ in their words."""
    lines = ["\t".join(row[1:]) for row in bitext(6 * count, seed, damage) if row[1].count(" ") > 2]
    return list(dict.fromkeys(lines))[:count]


class Filtered(Case):
    def filter(self, *arguments, stdin=b"", expect=0):
        """Standard output as lines, and what was told."""
        done = attempt("filter", *SMALL, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, expect, done.stderr.decode())
        return done.stdout.decode().splitlines(), done.stderr.decode()

    def table(self, lines, name="t.tsv"):
        return self.file(name, "".join(line + "\n" for line in lines))


class Decisions(Filtered):
    def setUp(self):
        super().setUp()
        self.lines = distinct(1500, 1, 0.3)

    def test_kept_and_rejected_lines_are_all_lines_in_their_order(self):
        lines = [*self.lines[:700], EMPTY, *self.lines[700:], self.lines[0], COPY]
        rejected = self.folder / "rejected.tsv"
        kept, _ = self.filter(self.table(lines), "--rejected", rejected)
        dropped = [line.rsplit("\t", 1) for line in rejected.read_text().splitlines()]
        reasons = dict(dropped)
        self.assertEqual(reasons[EMPTY], "no_empty(right)")
        self.assertEqual(reasons[COPY], "no_identical")
        self.assertEqual(dropped[-2], [self.lines[0], "duplicate"])
        self.assertIn("cut", reasons.values())
        ours, theirs = iter(kept), iter(line for line, _ in dropped)
        a, b = next(ours, None), next(theirs, None)
        for line in lines:
            if line == a and not (line == b and a is None):
                a = next(ours, None)
            else:
                self.assertEqual(line, b)
                b = next(theirs, None)
        self.assertEqual((a, b), (None, None))

    def test_damage_is_dropped_and_good_pairs_are_kept(self):
        rows = [row for row in bitext(3000, 3, 0.3) if row[1].count(" ") > 2]
        rows = list({row[1:]: row for row in rows}.values())
        out, _ = self.filter("--annotate", "--two-pass", "--p", "0.05",
                             self.table("\t".join(row[1:]) for row in rows))
        kept = [line.split("\t")[2] == "keep" for line in out]
        good = [k for k, row in zip(kept, rows) if row[0] == "ok"]
        bad = [k for k, row in zip(kept, rows) if row[0] != "ok"]
        self.assertGreater(sum(good) / len(good), 0.9)
        self.assertLess(sum(bad) / len(bad), 0.2)

    def test_before_the_first_model_nothing_is_decided(self):
        out, told = self.filter("--annotate", self.table(self.lines))
        decisions = [line.split("\t")[2:] for line in out]
        self.assertEqual(decisions[:256], [["undecided", "no_model"]] * 256)
        self.assertNotIn("undecided", [decision for decision, _ in decisions[600:]])
        self.assertIn("undecided", told)
        table = self.table(self.lines)
        kept, _ = self.filter(table)
        fewer, _ = self.filter(table, "--undecided", "reject")
        self.assertEqual(kept[:256], self.lines[:256])
        self.assertEqual(kept[decisions.index(["keep", ""]):], fewer)

    def test_rules_can_be_chosen(self):
        lines = [*self.lines[:300], EMPTY, SYMBOLS, COPY]
        for rules, expected in (("default", ["no_empty(right)", "no_only_symbols(left)",
                                             "no_identical"]),
                                ("no_identical", [None, None, "no_identical"]),
                                ("default,-no_empty", [None, "no_only_symbols(left)",
                                                       "no_identical"])):
            out, _ = self.filter("--annotate", "--rules", rules, self.table(lines))
            for line, reason in zip(out[-3:], expected):
                found = line.split("\t")[3]
                self.assertEqual(found if reason else reason, reason, rules)
                if not reason:
                    self.assertNotIn("no_", found.replace("no_model", ""))
        self.assertIn("no_empty", complaint("filter", "--rules", "no_such", stdin="a\tb\n"))

    def test_what_is_rejected_teaches_nothing(self):
        junk = [EMPTY, COPY, SYMBOLS]
        mixed = [line for i, line in enumerate(self.lines) for line in
                 ([line, junk[i % 3]] if i % 2 else [line])]
        plain = run("score", *SMALL, "--learn", self.table(self.lines), stdin=self.lines[7] + "\n")
        self.assertEqual(plain, run("score", *SMALL, "--learn", self.table(mixed, "m.tsv"),
                                    stdin=self.lines[7] + "\n"))

    def test_boilerplate_does_not_vouch_for_itself(self):
        boiler = "click here to accept all cookies\tdas Wetter wird morgen wieder besser"
        lines = list(self.lines)
        for place in range(400, 1400, 20):
            lines.insert(place, boiler)
        out, _ = self.filter("--annotate", "--two-pass", self.table(lines))
        found = [line.split("\t")[2:] for line in out if line.startswith("click here")]
        self.assertEqual(len(found), 50)
        self.assertEqual(found[1:], [["drop", "duplicate"]] * 49)
        kept, _ = self.filter("--annotate", "--two-pass", "--duplicates", "learn",
                              self.table(lines))
        self.assertNotIn("duplicate", "".join(kept))

    def test_near_duplicates_are_named(self):
        near = self.lines[0].upper().replace(" ", ", ", 1)
        out, _ = self.filter("--annotate", self.table([*self.lines[:50], near]))
        self.assertEqual(out[-1].split("\t")[2:], ["drop", "near_duplicate"])

    def test_counting_streams_have_no_duplicates_and_a_cut_by_score(self):
        words = [f"{w}\t{w[::-1]}" for w in ("river", "stone", "cloud")] * 20
        out, _ = self.filter("--annotate", "--estimator", "pmi", "--score", "0.5",
                             self.table(words))
        decisions = {line.split("\t")[2] for line in out[10:]}
        self.assertEqual(decisions, {"keep"})
        self.assertIn("score", complaint("filter", "--estimator", "pmi", "--keep", "0.5",
                                         stdin="a\tb\n"))

    def test_the_share_that_is_asked_for_is_kept(self):
        lines = distinct(3000, 5, 0.2)
        kept, _ = self.filter("--two-pass", "--keep", "0.6", self.table(lines))
        self.assertAlmostEqual(len(kept) / len(lines), 0.6, delta=0.06)

    def test_the_cut_of_a_configuration_gives_way_to_that_of_a_flag(self):
        config = self.file("c.yaml", "p: 0.5\nrules: [no_empty, no_identical]\n")
        table = self.table(self.lines)
        self.assertEqual(self.filter("--config", config, "--keep", "0.5", table)[0],
                         self.filter("--rules", "no_empty,no_identical", "--keep", "0.5", table)[0])
        self.assertIn("expected one of them", complaint("filter", "--keep", "0.5", "--p", "0.1",
                                                        table))
        old = self.file("old.yaml", "flag-p-value: 0.1\n")
        self.assertIn("p: VALUE", complaint("filter", "--config", old, table))
        old = self.file("d.yaml", "streams:\n  a: {flag-p-value: 0.1}\n")
        self.assertIn("p: VALUE", complaint("filter", "--config", old, table))
        told = complaint("filter", "--flag-p-value", "0.1", table, expect=2)
        self.assertIn("--flag-p-value: found an option of earlier versions", told)
        self.assertIn("--p VALUE", told)
        none = self.file("none.yaml", "rules: []\n")
        self.assertEqual(self.filter("--config", none, table)[0],
                         self.filter("--rules", "none", table)[0])


class Output(Filtered):
    def setUp(self):
        super().setUp()
        self.lines = distinct(900, 11, 0.2)
        self.mixed = [*self.lines[:500], "lonely", "", EMPTY, *self.lines[500:], COPY, "bad\xff"]
        self.bytes = "".join(line + "\n" for line in self.mixed[:-1]).encode() + b"bad\xff\ty\n"

    def test_one_line_for_each_line(self):
        table = self.file("m.tsv", self.bytes)
        out = attempt("filter", *SMALL, "--annotate", table)
        self.assertEqual(out.returncode, 0)
        rows = out.stdout.split(b"\n")[:-1]
        self.assertEqual([row.rsplit(b"\t", 2)[0] for row in rows], self.bytes.split(b"\n")[:-1])
        for place in (500, 501, len(rows) - 1):
            self.assertEqual(rows[place].split(b"\t")[-2:], [b"drop", b"bad_line"])
        numbers = run("filter", *SMALL, "--score-only", table).splitlines()
        self.assertEqual(numbers, run("filter", *SMALL, "--score_only", table).splitlines())
        self.assertEqual(len(numbers), len(rows))
        for row, number in zip(rows, map(float, numbers)):
            decision, reason = row.split(b"\t")[-2:]
            if decision == b"undecided":
                self.assertNotEqual(number, number)
            elif reason not in (b"", b"cut"):
                self.assertEqual(number, 0)
            else:
                self.assertTrue(0 <= number <= 1)
        self.assertIn("one line for each", complaint("filter", "--annotate", "--bad-lines", "drop",
                                                     table, expect=2))

    def test_bad_lines_are_rejected_with_a_reason(self):
        rejected = self.folder / "r.tsv"
        kept = attempt("filter", *SMALL, self.file("m.tsv", self.bytes), "--rejected", rejected)
        self.assertNotIn(b"lonely", kept.stdout)
        self.assertIn(b"lonely\tbad_line\n", rejected.read_bytes())
        self.assertIn(b"3 bad lines", kept.stderr)

    def test_many_rejected_lines_are_no_useless_table(self):
        self.filter(self.table([COPY] * 200 + self.lines[:5]))
        self.filter("--two-pass", self.table([COPY] * 200 + self.lines[:5]))
        self.filter(self.table([EMPTY] * 300))
        _, told = self.filter(self.table(["lonely"] * 100 + self.lines[:5]), expect=4)
        self.assertIn("kept 5 of 105", told)
        self.filter(self.table(["lonely", *self.lines]), "--bad-lines", "fail", expect=3)

    def test_jsonl_and_headers_are_kept_as_they_are(self):
        objects = [json.dumps({"y": y, "n": [1], "x": x}) for x, y in
                   (line.split("\t") for line in self.lines)]
        kept, _ = self.filter(self.table(objects, "t.jsonl"))
        self.assertTrue(set(kept) <= set(objects))
        out, _ = self.filter("--annotate", self.table(objects, "t.jsonl"))
        last = json.loads(out[-1])
        self.assertEqual(set(last), {"x", "y", "n", "decision", "reason"})
        if last["decision"] == "keep":
            self.assertIsNone(last["reason"])
        out, _ = self.filter("--header", "--annotate", self.table(["a\tb", *self.lines]))
        self.assertEqual(out[0], "a\tb\tdecision\treason")
        out, _ = self.filter("--header", self.table(["a\tb", *self.lines]))
        self.assertEqual(out[0], "a\tb")
        crlf, _ = self.filter(self.table([line + "\r" for line in self.lines]))
        self.assertEqual(crlf, self.filter(self.table(self.lines))[0])

    def test_what_was_annotated_can_be_annotated_again_under_other_names(self):
        lines = self.lines[:200]
        objects = [json.dumps(dict(zip("xy", line.split("\t")))) for line in lines]
        for flags, table in (([], self.table(objects, "t.jsonl")),
                             (["--header"], self.table(["x\ty", *lines]))):
            once = self.table(self.filter(*flags, "--annotate", table)[0], "once")
            for again, name in ((["--annotate"], "decision"), (["--annotate", "--decision-name",
                                "d"], "reason"), (["--rejected", self.folder / "r"], "reason")):
                _, told = self.filter(*flags, once, *again, expect=1)
                self.assertIn(f'"{name}" already; give the new one another name with '
                              f"--{name}-name NAME", told)
            names = ["--decision-name", "d", "--reason-name", "r"]
            twice, _ = self.filter(*flags, "--annotate", *names, once)
            self.assertEqual(twice[-1].count("no_model"), 2)
            self.assertTrue(twice[0].endswith("reason\td\tr") or list(json.loads(twice[0]))[-2:]
                            == ["d", "r"])
            rejected = self.folder / "r"
            self.filter(*flags, once, "--undecided", "reject", "--rejected", rejected, *names[2:])
            self.assertEqual(len(rejected.read_text().splitlines()), len(twice))
        complaint("filter", "--annotate", "--reason-name", "decision", stdin="a\tb\n")
        complaint("filter", "--decision-name", "d", stdin="a\tb\n", expect=2)

    def test_statistics_add_up(self):
        stats = self.folder / "s.json"
        kept, told = self.filter(self.file("m.tsv", self.bytes), "--stats", stats)
        found = json.loads(stats.read_text())
        self.assertEqual(found["lines"], len(self.mixed))
        self.assertEqual(found["kept"], len(kept))
        self.assertEqual(found["bad_lines"], 3)
        self.assertEqual(sum(found["decisions"].values()) + 3, len(self.mixed))
        self.assertEqual(found["reasons"]["no_empty(right)"], 1)
        self.assertEqual(found["cut"], "p 0.05")
        # Undecided pairs are kept, and have no reason there.
        self.assertEqual(sum(found["reasons"].values()), len(self.mixed) - len(kept))
        self.assertTrue(0.5 < found["self_auc"] <= 1)
        self.assertTrue(0 <= found["random_share"] <= 1)
        self.assertTrue(0 <= found["good_lost_estimate"] < 0.5)
        bins = found["p_values"]
        self.assertEqual([one["up_to"] for one in bins], [.001, .003, .01, .03, .1, .3, 1])
        for words in (f"kept {len(kept)} of {len(self.mixed)}", "no_empty(right)", "self-AUC",
                      "look like random pairings"):
            self.assertIn(words, told)
        self.assertNotIn("hardly depend", told)

    def test_sides_that_have_nothing_to_do_with_each_other_are_told(self):
        rows = [line.split("\t") for line in self.lines]
        mixed = [f"{x}\t{y}" for (x, _), (_, y) in zip(rows, rows[7:] + rows[:7])]
        stats = self.folder / "s.json"
        _, told = self.filter("--two-pass", self.table(mixed), "--stats", stats)
        self.assertIn("hardly depend on each other", told)
        _, told = self.filter("--estimator", "pmi", self.table(mixed), "--stats", stats)
        self.assertIsNone(json.loads(stats.read_text())["good_lost_estimate"])
        self.assertEqual({one["pairs"] for one in json.loads(stats.read_text())["p_values"]}, {0})

    def test_a_few_pairs_tell_nothing_of_how_many_are_random(self):
        stats = self.folder / "s.json"
        table = self.table(self.lines)
        for lines, is_told in ((self.lines[:5], False), (self.lines, True)):
            _, told = self.filter("--learn", table, "--stats", stats,
                                  stdin="".join(line + "\n" for line in lines))
            for words in ("look like random pairings", "of the others are cut"):
                self.assertEqual(words in told, is_told)
            found = json.loads(stats.read_text())
            for name in ("random_share", "good_lost_estimate"):
                self.assertEqual(found[name] is not None, is_told)

    def test_p_values_are_counted_up_to_each_bound(self):
        stats = self.folder / "s.json"
        found = run("score", *SMALL, "--two-pass", "--with", "p-value", self.table(self.lines))
        self.filter("--two-pass", self.table(self.lines), "--stats", stats)
        values = [float(line.split("\t")[2]) for line in found.splitlines()]
        below = 0
        told = json.loads(stats.read_text())
        for one in told["p_values"]:
            count = sum(value <= one["up_to"] for value in values)
            self.assertEqual(one["pairs"], count - below)
            below = count
        random = 2 * sum(value > 0.5 for value in values) / len(values)
        self.assertAlmostEqual(told["random_share"], min(random, 1))
        dropped = sum(value > 0.05 for value in values) / len(values)
        self.assertAlmostEqual(told["good_lost_estimate"],
                               max((dropped - random * 0.95) / (1 - random), 0))

    def test_a_terminal_is_shown_how_p_values_are_distributed(self):
        stats = self.folder / "s.json"
        ours, theirs = pty.openpty()
        with open(ours, "rb", buffering=0) as terminal:
            with open(theirs, "wb", buffering=0) as told:
                subprocess.run([PHSIC, "filter", *SMALL, "--two-pass", "--stats", stats,
                                self.table(self.lines)], stdout=subprocess.DEVNULL, stderr=told,
                               check=True, timeout=300)
                shown = terminal.read(1 << 16).decode().split("p-value      pairs\r\n")[1]
        rows = [row.split() for row in shown.splitlines()]
        bins = json.loads(stats.read_text())["p_values"]
        self.assertEqual([(float(row[1]), int(row[2])) for row in rows],
                         [(one["up_to"], one["pairs"]) for one in bins])
        most = max(one["pairs"] for one in bins)
        for row, one in zip(rows, bins):
            self.assertEqual("".join(row[3:]), "#" * math.ceil(50 * one["pairs"] / most))
        _, told = self.filter("--two-pass", self.table(self.lines))
        self.assertNotIn("p-value", told)

    def test_output_is_compressed_by_its_name(self):
        table = self.table(self.lines)
        plain = run("filter", *SMALL, table).encode()
        for name, decompress in (("k.tsv.gz", gzip.decompress), ("k.tsv.bz2", bz2.decompress),
                                 ("k.tsv.xz", lzma.decompress)):
            run("filter", *SMALL, table, "-o", self.folder / name)
            self.assertEqual(decompress((self.folder / name).read_bytes()), plain)
        run("filter", *SMALL, table, "-o", self.folder / "k.tsv.zst")
        again = run("filter", *SMALL, "--rules", "none", "--p", "1", "--annotate",
                    self.folder / "k.tsv.zst").splitlines()
        self.assertEqual(len(again), plain.count(b"\n"))

    def test_a_name_of_another_compression_is_told(self):
        table = self.table(self.lines)
        for ending, is_told in (("lz4", True), ("Z", True), ("zip", True), ("tsv", False)):
            path = self.folder / f"k.{ending}"
            out, told = self.filter(table, "-o", path)
            self.assertEqual("plain text is written" in told, is_told)
            self.assertEqual(path.read_text(), run("filter", *SMALL, table))

    def test_files_that_are_read_are_not_written(self):
        table = self.table(self.lines)
        for flags in (["-o", table], ["--rejected", table], ["--stats", table]):
            complaint("filter", table, *flags)
        out = self.folder / "o.tsv"
        complaint("filter", table, "-o", out, "--rejected", out)
        self.assertEqual(table.read_text(), "".join(line + "\n" for line in self.lines))

    def test_what_does_not_go_together_is_refused(self):
        table = self.table(self.lines)
        for flags in (["--annotate", "--score-only"], ["--annotate", "--rejected", "r"],
                      ["--score-only", "--rejected", "r"], ["--two-pass", "--learn", table],
                      ["--model", "m", "--two-pass"], ["--model", "m", "--learn", table],
                      ["--model", "m", "--connect", "ipc:///x"], ["--no-learn"], ["--trust"],
                      ["-o", "a", "b"], ["--rejected", "a", "b"]):
            with self.subTest(flags=flags):
                complaint("filter", table, *flags, expect=2)

    def test_a_full_disk_and_a_closed_pipe_end_it(self):
        table = self.table(self.lines * 40)
        self.assertIn("/dev/full", complaint("filter", *SMALL, "--duplicates", "learn", "--p", "1",
                                             table, "-o", "/dev/full"))
        self.assertIn("/dev/full", complaint("filter", *SMALL, table, "--stats", "/dev/full"))
        with subprocess.Popen([PHSIC, "filter", *SMALL, "--duplicates", "learn", table],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdout.read(10)
            process.stdout.close()
            self.assertNotEqual(process.wait(timeout=120), 0)


class Endless(Filtered):
    """Streams that are larger than any memory."""

    def peak(self, lines):
        """The most memory, in bytes, of a filter that is given so many pairs."""
        with subprocess.Popen([LANGUAGES, "--pairs", str(lines)], stdout=subprocess.PIPE) as made, \
                subprocess.Popen([PHSIC, "filter", *SMALL, "--x", "2", "--y", "3", "--threads", "2",
                                  "--duplicate-window", "8192"], stdin=made.stdout,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            made.stdout.close()
            told = process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, told)
        self.assertIn(f"of {lines} lines", told)
        return 1024 * usage.ru_maxrss

    @unittest.skipIf(IS_SANITIZED, "the sanitizer's own memory grows")
    def test_memory_does_not_grow_with_the_number_of_lines(self):
        few = self.peak(50_000)
        many = self.peak(int(os.environ.get("PHSIC_LINES", "200000")))
        self.assertLess(many, few + (8 << 20))

    def test_a_reader_that_stops_gets_everything_when_it_goes_on(self):
        table = self.table(distinct(900, 11, 0.2) * 20)
        flags = ["filter", *SMALL, "--duplicates", "learn", "--p", "1", table]
        expected = run(*flags).encode()
        with subprocess.Popen([PHSIC, *map(str, flags)], stdout=subprocess.PIPE, bufsize=0,
                              stderr=subprocess.DEVNULL) as process:
            pipe = process.stdout.fileno()
            room = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
            self.assertGreater(len(expected), 4 * room)
            found = os.read(pipe, 10)
            # Until no page of the pipe has room, so that the filter has to wait.
            while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] < room - 4096:
                self.assertIsNone(process.poll())
            found += process.stdout.read()
            self.assertEqual(process.wait(timeout=120), 0)
        self.assertEqual(found, expected)


class TwoFiles(Filtered):
    def setUp(self):
        super().setUp()
        self.lines = distinct(1200, 21, 0.2)
        self.lines.insert(700, EMPTY)
        self.x = self.table([line.split("\t")[0] for line in self.lines], "c.en")
        self.y = self.table([line.split("\t")[1] for line in self.lines], "c.fr")

    def kept(self, *flags):
        outputs = [self.folder / "k.en", self.folder / "k.fr"]
        self.filter(self.x, self.y, *flags, "-o", *outputs)
        x, y = (path.read_text().splitlines() for path in outputs)
        self.assertEqual(len(x), len(y))
        return ["\t".join(pair) for pair in zip(x, y)]

    def test_two_files_give_what_one_table_gives(self):
        for flags in ([], ["--two-pass"], ["--keep", "0.5"]):
            self.assertEqual(self.kept(*flags), self.filter(self.table(self.lines), *flags)[0])

    def test_rejected_pairs_go_to_two_files_or_a_table(self):
        table = self.folder / "r.tsv"
        kept = self.kept("--rejected", table)
        rejected = table.read_text().splitlines()
        self.assertEqual(len(kept) + len(rejected), len(self.lines))
        self.assertIn(EMPTY + "\tno_empty(right)", rejected)
        parts = [self.folder / name for name in ("r.en", "r.fr", "r.why")]
        self.kept("--rejected", *parts)
        self.assertEqual(["\t".join(row) for row in
                          zip(*(part.read_text().splitlines() for part in parts))], rejected)

    def test_every_line_is_annotated(self):
        out, _ = self.filter(self.x, self.y, "--annotate")
        self.assertEqual([line.rsplit("\t", 2)[0] for line in out], self.lines)
        numbers, _ = self.filter(self.x, self.y, "--score-only")
        self.assertEqual(len(numbers), len(self.lines))

    def test_files_of_unequal_length_are_refused(self):
        short = self.table(self.lines[:-1], "short")
        self.filter(self.x, short, "-o", self.folder / "a", self.folder / "b", expect=1)
        self.filter(self.x, self.y, expect=0)


class WithAModel(Filtered):
    def setUp(self):
        super().setUp()
        self.lines = distinct(1500, 31, 0.3)
        self.corpus = self.table(self.lines, "corpus.tsv")
        self.model = self.folder / "m.phsic"
        run("learn", *SMALL, self.corpus, "-o", self.model, "--p", "0.02")
        new = [*distinct(700, 32, 0.3), EMPTY, COPY, "lonely", *self.lines[:300]]
        self.block = [line for line in new for _ in range(2 if len(line) % 7 == 0 else 1)]

    def blocks(self, name, lines, size, *flags):
        whole = self.table(lines, name)
        with_model = ["--model", self.model, *flags]
        expected = attempt("filter", *with_model, whole).stdout
        found = b"".join(
            attempt("filter", *with_model,
                    stdin="".join(line + "\n" for line in lines[i:i + size])).stdout
            for i in range(0, len(lines), size))
        self.assertGreater(expected.count(b"\n"), 100)
        self.assertEqual(found, expected)

    def test_blocks_give_the_bytes_of_the_whole(self):
        for flags in ([], ["--annotate"], ["--score-only"], ["--keep", "0.5", "--annotate"],
                      ["--threads", "1"]):
            self.blocks("b.tsv", self.block, 197, *flags)
        objects = [json.dumps(dict(zip("xy", line.split("\t")))) for line in self.block
                   if "\t" in line]
        self.blocks("b.jsonl", objects, 331, "--annotate")

    def test_blocks_of_two_files_give_the_bytes_of_the_whole(self):
        rows = [line.split("\t") for line in self.block if "\t" in line]

        def kept(part, name):
            files = [self.table((row[k] for row in part), f"{name}.{k}") for k in (0, 1)]
            outputs = [self.folder / f"{name}.kept.{k}" for k in (0, 1)]
            run("filter", "--model", self.model, *files, "-o", *outputs)
            return [path.read_bytes() for path in outputs]
        whole = kept(rows, "whole")
        parts = [kept(rows[i:i + 240], f"part{i}") for i in range(0, len(rows), 240)]
        self.assertEqual([b"".join(part[k] for part in parts) for k in (0, 1)], whole)

    def test_nothing_is_remembered_with_a_model(self):
        line = self.lines[3]
        out, _ = self.filter("--model", self.model, "--annotate", stdin=(line + "\n") * 5)
        self.assertEqual(len(set(out)), 1)
        self.assertNotIn("duplicate", out[0])
        before = self.model.read_bytes()
        self.filter("--model", self.model, self.corpus)
        self.assertEqual(self.model.read_bytes(), before)

    def test_the_corpus_does_not_vouch_for_itself(self):
        def mean(*flags):
            scores = run("score", "--model", self.model, "--score-only", *flags, self.corpus)
            return sum(map(float, scores.split())) / len(self.lines)
        self.assertLess(mean(), mean("--keep-own-share"))
        # As two passes over it.
        twice, _ = self.filter("--two-pass", "--p", "0.02", self.corpus)
        once, _ = self.filter("--model", self.model, self.corpus)
        self.assertEqual(once, twice)

    def test_a_block_of_bad_lines_is_no_useless_table(self):
        out, told = self.filter("--model", self.model, "--annotate", stdin="lonely\n")
        self.assertEqual(out, ["lonely\tdrop\tbad_line"])
        self.assertIn("found 1 of 1 lines to be of no use", told)
        self.assertIn("kept 0 of 1 lines", told)
        stats = self.folder / "s.json"
        _, told = self.filter("--model", self.model, "--stats", stats,
                              self.table(["lonely"] * 300, "\x1b[2J"))
        self.assertEqual(json.loads(stats.read_text())["bad_lines"], 300)
        self.assertIn("found 300 of 300 lines", told)
        self.assertNotIn("\x1b", told)

    def test_flags_choose_another_cut_and_other_rules(self):
        table = self.table(self.block)
        def kept(*flags):
            return len(self.filter("--model", self.model, *flags, table)[0])
        self.assertEqual(kept(), kept("--p", "0.02"))
        self.assertLess(kept("--p", "0.005"), kept("--p", "0.2"))
        self.assertGreater(kept("--p", "1", "--rules", "none"), kept("--p", "1"))
        told = complaint("filter", "--model", self.model, "--encoder", "hashing:dim=64", table)
        self.assertIn("hashing:dim=128", told)

    def test_a_corpus_is_not_replaced_by_its_model(self):
        table = self.table(self.lines, "corpus-and-model.tsv")
        before = table.read_bytes()
        for flag in ("--force", "--update"):
            self.assertIn("the same file", complaint("learn", table, "-o", table, flag))
            self.assertEqual(table.read_bytes(), before)

    def test_flags_choose_another_cut_of_a_model_that_counts(self):
        counts = self.folder / "counts.phsic"
        run("learn", "--estimator", "pmi", "--score", "-100", self.corpus, "-o", counts)
        self.assertNotEqual(run("filter", "--model", counts, self.corpus), "")
        self.assertEqual(run("filter", "--model", counts, "--score", "1000", self.corpus), "")

    def test_a_stream_that_forgets_says_that_pairs_vouch_for_themselves(self):
        for flags in (["--two-pass"], ["--two-pass", "--half-life", "500"]):
            told = attempt("filter", *SMALL, *flags, self.corpus).stderr.decode()
            self.assertEqual("vouches for itself" in told, "--half-life" in flags)

    def test_kept_and_rejected_pairs_go_to_two_files(self):
        there = self.folder / "new.tsv"
        told = complaint("filter", *SMALL, self.corpus, "-o", there, "--rejected",
                         f"{self.folder}//x/../new.tsv")
        self.assertIn("twice, expected different files", told)
        self.assertFalse(there.exists())
        run("filter", *SMALL, self.corpus, "-o", "/dev/null", "--rejected", "/dev/null")

    def test_a_p_value_that_nothing_can_have_counts_as_the_smallest(self):
        kept = []
        for p, is_told in (("0.0000001", True), ("0.00000001", True), ("0.05", False)):
            done = attempt("filter", "--model", self.model, "--p", p, self.corpus)
            self.assertEqual("was taken for" in done.stderr.decode(), is_told)
            kept.append(done.stdout)
        self.assertEqual(kept[0], kept[1])
        self.assertTrue(0 < len(kept[0]) < len(kept[2]))

    def test_an_input_that_the_model_does_not_know_is_told(self):
        rows = [line.split("\t") for line in self.corpus.read_text().splitlines()]
        shifted = tsv((x, y) for (x, _), (_, y) in zip(rows, rows[7:] + rows[:7]))
        for table, is_told in ((shifted, True), (tsv(rows), False)):
            done = attempt("filter", "--model", self.model, stdin=table.encode())
            self.assertEqual("hardly depend" in done.stderr.decode(), is_told)

    def test_what_a_model_cannot_do_is_told(self):
        told = attempt("filter", "--model", self.model, "--duplicates", "drop", self.corpus).stderr
        self.assertIn(b"--duplicates does nothing", told)
        self.assertNotIn(b"too good", told)
        told = attempt("filter", *SMALL, "--two-pass", "--rank", "8", self.corpus).stderr
        self.assertIn(b"too good", told)

    def test_who_cannot_be_told_gets_the_pairs(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PHSIC, "filter", "--model", self.model, self.corpus],
                                  stdout=subprocess.PIPE, stderr=full, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stdout.decode(), run("filter", "--model", self.model, self.corpus))
            done = subprocess.run([PHSIC, "filter", "--model", "nowhere"], stderr=full, check=False)
            self.assertEqual(done.returncode, 1)

    def test_every_line_has_calibrated_numbers(self):
        table = self.table([line for line in self.block if "\t" in line])
        for flags in (["--model", self.model], ["--learn", self.corpus, *SMALL],
                      ["--two-pass", *SMALL]):
            out = run("score", *flags, "--with", "percentile,p-value,decision,reason", table)
            for line in out.splitlines():
                percentile, p_value, decision, _, score = line.split("\t")[2:]
                self.assertIn(decision, ("keep", "drop"))
                if score != "nan":
                    self.assertTrue(0 <= float(percentile) <= 1)
                    self.assertTrue(0 < float(p_value) <= 1)


if __name__ == "__main__":
    unittest.main()
