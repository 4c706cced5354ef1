"""phsic score: learning, scoring, and every line in its place."""

import gzip
import json
import math
import os
import random
import subprocess
import time
import unittest

from phsic import PHSIC, SMALL, Case, attempt, bitext, complaint, on_terminal, run, tsv


def scores_of(output, column=-1):
    return [float(line.split("\t")[column]) for line in output.splitlines()]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def unit(a):
    length = math.sqrt(dot(a, a))
    return [p / length for p in a]


def brute_force_phsic(pairs):
    """(1/n) sum_i k~(x,x_i) l~(y,y_i) with centred cosine kernels, term by term."""
    n = len(pairs)
    k = [[dot(unit(a), unit(b)) for b, _ in pairs] for a, _ in pairs]
    l = [[dot(unit(a), unit(b)) for _, b in pairs] for _, a in pairs]

    def centred(m):
        rows = [sum(row) / n for row in m]
        total = sum(rows) / n
        return [[m[i][j] - rows[i] - rows[j] + total for j in range(n)] for i in range(n)]

    k, l = centred(k), centred(l)
    return [sum(k[i][j] * l[i][j] for j in range(n)) / n for i in range(n)]


def wins(scores, rows):
    """How often a good pair scores higher than a damaged one."""
    good = [score for score, row in zip(scores, rows) if row[0] == "ok"]
    bad = [score for score, row in zip(scores, rows) if row[0] != "ok"]
    return sum(g > b for g in good for b in bad) / (len(good) * len(bad))


class Learning(Case):
    def test_two_passes_give_what_the_formula_of_phsic_gives(self):
        rng = random.Random(1)
        pairs = []
        for _ in range(40):
            x = [rng.gauss(0, 1) for _ in range(3)]
            y = [x[0] + rng.gauss(0, 0.3), x[1] - x[2], rng.gauss(0, 1)]
            pairs.append((x, y))
        table = self.file("v.tsv", "".join(
            " ".join(map(str, x)) + "\t" + json.dumps(y) + "\n" for x, y in pairs))
        found = scores_of(run("score", "--two-pass", "--keep-own-share", "--estimator", "phsic", "--kernel", "cosine",
                              "--encoder", "vectors:dim=3", table))
        self.assert_close(found, brute_force_phsic(pairs), 1e-5)

    def test_learning_a_file_and_scoring_it_is_two_passes(self):
        table = self.file("t.tsv", tsv(row[1:] for row in bitext(600, 2)))
        self.assertEqual(run("score", *SMALL, "--two-pass", table),
                         run("score", *SMALL, "--learn", table, table))

    def test_without_a_file_to_learn_each_pair_is_scored_before_it_is_learned(self):
        rows = [row[1:] for row in bitext(1200, 3)]
        whole = scores_of(run("score", *SMALL, stdin=tsv(rows)))
        # What comes later cannot change a score.
        self.assertEqual(whole[:700], scores_of(run("score", *SMALL, stdin=tsv(rows[:700]))))
        self.assertEqual(whole[0], 0)

    def test_matched_pairs_score_above_mismatched_ones(self):
        rows = bitext(2500, 4, damage=0.3)
        scores = scores_of(run("score", stdin=tsv(row[1:] for row in rows)))
        self.assertGreater(wins(scores[1500:], rows[1500:]), 0.9)

    def test_scores_do_not_depend_on_threads(self):
        table = self.file("t.tsv", tsv(row[1:] for row in bitext(3000, 5, 0.2)))
        for more in ([], ["--two-pass"], ["--kernel", "gaussian:sigma=median", "--pivots", "40"]):
            outputs = {run("score", *SMALL, *more, "--threads", n, table) for n in (1, 2, 7)}
            self.assertEqual(len(outputs), 1, more)

    def test_a_copy_is_scored_but_not_learned(self):
        rows = [row[1:] for row in bitext(800, 6)]
        copies = [(x, x) for x, _ in rows[:400]]
        query = self.file("q.tsv", tsv(rows[:50]))
        clean = self.file("clean.tsv", tsv(rows))
        mixed = self.file("mixed.tsv", tsv(copies + rows))
        plain = run("score", *SMALL, "--learn", clean, query)
        self.assertEqual(plain, run("score", *SMALL, "--learn", mixed, query))
        self.assertNotEqual(plain, run("score", *SMALL, "--learn", mixed, "--learn-identical",
                                       "true", query))

    def test_forgetting_follows_a_change_of_meaning(self):
        rows = bitext(4000, 7, damage=0.3)
        # From the middle on every word is translated by its translation read backwards.
        changed = [(label, x, " ".join(word[::-1] for word in y.split()))
                   for label, x, y in rows[2000:]]
        stream = tsv(row[1:] for row in rows[:2000] + changed)

        def accuracy(*more):
            scores = scores_of(run("score", *SMALL, *more, stdin=stream))[2500:3000]
            return wins(scores, changed[500:1000])

        self.assertGreater(accuracy("--half-life", "200"), accuracy() + 0.05)
        self.assertGreater(accuracy("--window", "512"), accuracy() + 0.05)

    def test_half_lives_in_seconds_go_by_the_time_column(self):
        rows = [row[1:] for row in bitext(1200, 8)]

        def scores(half_life, time_of):
            table = tsv((x, y, time_of(i)) for i, (x, y) in enumerate(rows))
            return run("score", *SMALL, "--half-life", half_life, "--time", "3", "--score-only",
                       stdin=table)

        by_seconds = scores("400s", str)
        self.assertEqual(by_seconds, scores("800s", lambda i: str(2 * i)))
        self.assertEqual(by_seconds, scores("400s", lambda i: time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(i))))
        self.assertNotEqual(by_seconds, scores("100s", str))
        self.assertIn("--time", complaint("score", "--half-life", "400s", stdin="a\tb\n"))

    def test_counting_gives_pointwise_mutual_information(self):
        rows = [("a", "1")] * 6 + [("b", "2")] * 3 + [("a", "2")]
        table = self.file("w.tsv", tsv(rows))
        found = scores_of(run("score", "--estimator", "pmi", "--learn", table, table))
        n, k = 10, 1

        def pmi(xy, x, y):
            p = x / n * y / n
            return math.log((xy + k * p) / ((n + k) * p))

        expected = [pmi(6, 7, 6)] * 6 + [pmi(3, 3, 4)] * 3 + [pmi(1, 7, 4)]
        self.assert_close(found, expected, 1e-5)

    def test_every_kernel_and_estimator_of_the_documentation_scores(self):
        table = self.file("t.tsv", tsv(row[1:] for row in bitext(700, 9)))
        for more in (["--kernel", "sum(cosine,polynomial:degree=2)"],
                     ["--kernel", "laplacian:gamma=0.1"], ["--kernel", "linear"],
                     ["--kernel", "spectrum:n=3"], ["--x-kernel", "spectrum:n=2"],
                     ["--estimator", "whitened", "--ridge", "0.3", "--rank", "20"],
                     ["--estimator", "phsic", "--rank", "5"], ["--window", "500"],
                     ["--pivot-rule", "greedy", "--pivots", "30"], ["--centered", "false"]):
            scores = scores_of(run("score", *SMALL, "--two-pass", *more, table))
            self.assertEqual(len(scores), 700)
            self.assertTrue(all(map(math.isfinite, scores)), more)
            self.assertGreater(len(set(scores)), 500, more)


class Output(Case):
    def test_lines_columns_and_order_are_kept(self):
        lines = ["id7\tein Fluss\ta river\tnote", "id8\t\t\t", "id9\tein Stein \t a stone\tx\ty\tz"]
        out = run("score", "--x", "2", "--y", "3", stdin="\n".join(lines)).splitlines()
        self.assertEqual([line.rsplit("\t", 1)[0] for line in out], lines)

    def test_the_spelling_of_bicleaner_works(self):
        table = "a\tb\tc\n"
        self.assertEqual(run("score", "--scol", "2", "--tcol", "3", "--score_only", stdin=table),
                         run("score", "--x", "2", "--y", "3", "--score-only", stdin=table))

    def test_columns_have_names_with_a_header(self):
        out = run("score", "--header", "--x", "src", "--y", "trg", stdin="trg\tid\tsrc\nb\t1\ta\n")
        self.assertEqual(out, "trg\tid\tsrc\tscore\nb\t1\ta\t0\n")
        self.assertIn("src", complaint("score", "--header", "--x", "source",
                                       stdin="src\ttrg\na\tb\n"))

    def test_jsonl_objects_gain_a_member_and_keep_the_rest(self):
        objects = [{"x": "ein \"Fluss\"\t", "n": 1e3, "y": "a rivér", "deep": {"score": [1, None]}},
                   {"y": "b", "x": ""}]
        out = run("score", stdin="".join(json.dumps(o) + "\n" for o in objects))
        for line, given in zip(out.splitlines(), objects):
            self.assertEqual(json.loads(line), {**given, "score": 0})

    def test_percentiles_and_p_values_stand_beside_the_score(self):
        table = self.file("t.tsv", tsv(row[1:] for row in bitext(1500, 1, 0.3)))
        out = [line.split("\t") for line in
               run("score", *SMALL, "--two-pass", "--with", "percentile,p-value", table).splitlines()]
        rows = sorted((float(r[4]), float(r[2]), float(r[3])) for r in out)
        for (_, low, p_low), (_, high, p_high) in zip(rows, rows[1:]):
            self.assertLessEqual(low, high)
            self.assertGreaterEqual(p_low, p_high)
        self.assertLess(rows[-1][2], 0.05)

    def test_percentiles_are_of_the_model_that_gave_the_score(self):
        out = run("score", *SMALL, "--with", "percentile,p-value",
                  stdin=tsv(row[1:] for row in bitext(600, 1)))
        values = [line.split("\t")[2:] for line in out.splitlines()]
        self.assertEqual(values[255], ["nan", "nan", "0"])
        self.assertNotIn("nan", values[-1])

    def test_compressed_input_is_known_by_its_content(self):
        table = tsv(row[1:] for row in bitext(300, 2)).encode()
        plain = run("score", *SMALL, stdin=table)
        self.assertEqual(plain, run("score", *SMALL, stdin=gzip.compress(table)))
        half = len(table) // 2
        self.assertEqual(plain, run("score", *SMALL, self.file(
            "named.txt", gzip.compress(table[:half]) + gzip.compress(table[half:]))))

    def test_output_to_a_file_is_the_same_and_never_the_input(self):
        table = self.file("t.tsv", "a\tb\n")
        run("score", table, "-o", self.folder / "out.tsv")
        self.assertEqual((self.folder / "out.tsv").read_text(), run("score", table))
        self.assertIn("same file", complaint("score", table, "-o", table))
        self.assertIn("same file", complaint("score", "--learn", table, "-o", table))
        self.assertEqual(table.read_text(), "a\tb\n")

    def test_what_the_table_holds_cannot_command_a_terminal(self):
        table = "a\x1b[2J\u202e\u009b\tb\r\n".encode()
        self.assertEqual(on_terminal("score", stdin=table), "a?[2J??\tb\t0\r\r\n")
        self.assertEqual(run("score", stdin=table).encode(), table.replace(b"\r\n", b"\t0\r\n"))
        learned = self.file("learned.tsv", tsv(row[1:] for row in bitext(300, 4)))
        ranked = json.loads(on_terminal("rank", *SMALL, "--learn", learned, stdin=table))
        self.assertEqual(ranked["x"], "a\x1b[2J??")  # JSON has its own way to write the first
        self.assertNotIn("\x1b", complaint("score", "--header", "--x", "z", stdin=table))

    def test_what_can_be_read_once_is_not_read_twice(self):
        self.assertIn("read twice", complaint("score", "--two-pass", stdin="a\tb\n"))
        self.assertIn("read twice", complaint("score", "--two-pass", "/dev/stdin", stdin="a\tb\n"))
        self.assertIn("--learn", complaint("score", "--learn", "-", stdin="a\tb\n"))
        self.assertIn("--learn", complaint("rank", "--learn", "-", stdin="a\tb\n"))

    def test_a_live_pipe_gets_each_score_at_once(self):
        with subprocess.Popen([PHSIC, "score", "--flush"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as child:
            for line in (b"one\ttwo\n", b"three\tfour\n"):
                child.stdin.write(line)
                child.stdin.flush()
                self.assertEqual(child.stdout.readline(), line[:-1] + b"\t0\n")
            child.stdin.close()

    def test_live_scores_are_those_of_a_batch(self):
        rows = tsv(row[1:] for row in bitext(900, 3))
        self.assert_close(scores_of(run("score", *SMALL, "--flush", stdin=rows)),
                          scores_of(run("score", *SMALL, stdin=rows)), 1e-4)

    def test_an_empty_input_gives_an_empty_output(self):
        self.assertEqual(run("score", stdin=""), "")


class BadLines(Case):
    table = b"a\tb\nonly one\n\xff\xfe\tc\nd\te\n"

    def test_bad_lines_are_told_and_stay_in_their_place(self):
        for more in ([], ["--score-only"]):
            out = run("score", *more, stdin=self.table.replace(b"\xff\xfe", b"x")).splitlines()
            self.assertEqual(len(out), 4)
            self.assertTrue(out[1].endswith("nan"))
        told = complaint("score", stdin=self.table, expect=0)
        self.assertIn(":2: 1 column", told)
        self.assertIn(":3: ", told)
        self.assertIn("UTF-8", told)
        self.assertIn("2 bad lines", told)

    def test_bad_lines_are_dropped_on_request(self):
        out = run("score", "--bad-lines", "drop", stdin=self.table).splitlines()
        self.assertEqual(out, ["a\tb\t0", "d\te\t0"])

    def test_a_bad_line_is_fatal_on_request(self):
        told = complaint("score", "--bad-lines", "fail", stdin=self.table, expect=3)
        self.assertIn(":2: ", told)

    def test_what_comes_before_a_fatal_line_is_written(self):
        numbers = "1 2\t3 4\n" * 300
        for bad in ("bad\n", "1 2\tx\n"):
            done = attempt("score", "--encoder", "vectors:dim=2", "--bad-lines", "fail",
                           stdin=numbers + bad + numbers)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(len(done.stdout.splitlines()), 300)

    def test_a_bad_line_changes_no_other_score(self):
        rows = [row[1:] for row in bitext(900, 5)]
        plain = run("score", *SMALL, stdin=tsv(rows)).splitlines()
        lines = tsv(rows).splitlines(keepends=True)
        broken = run("score", *SMALL, stdin="".join(lines[:300] + ["bad\n"] + lines[300:])).splitlines()
        self.assertEqual(plain, broken[:300] + broken[301:])

    def test_an_unreadable_number_is_a_bad_line_with_its_place(self):
        table = "1 2\t3 4\n1 x\t3 4\n1 2\t3\n"
        told = complaint("score", "--encoder", "vectors:dim=2", stdin=table, expect=0)
        self.assertIn(":2: x: ", told)
        self.assertIn(":3: y: ", told)
        out = run("score", "--score-only", "--encoder", "vectors:dim=2", stdin=table)
        self.assertEqual(out, "0\nnan\nnan\n")

    def test_a_kernel_that_overflows_is_told_of(self):
        rng = random.Random(1)
        points = [[rng.gauss(0, 1) for _ in range(4)] for _ in range(600)]
        learned = self.file("learned.tsv", "".join(
            " ".join(map(str, p)) + "\t" + " ".join(str(v + rng.gauss(0, .3)) for v in p) + "\n"
            for p in points))
        # Each number is small enough, its sixth power is not.
        table = "1 2 3 4\t1 2 3 4\n9e8 9e8 9e8 9e8\t1 2 3 4\n1 0 0 0\t1 0 0 1\n"
        arguments = ["score", "--encoder", "vectors:dim=4", "--kernel", "polynomial:degree=6",
                     "--learn", learned]
        self.assertIn(":2: ", complaint(*arguments, stdin=table, expect=0))
        self.assertIn(":2: ", complaint(*arguments, "--bad-lines", "fail", stdin=table, expect=3))
        self.assertEqual(run(*arguments, "--score-only", stdin=table).splitlines()[1], "nan")

    def test_a_zero_byte_does_not_end_an_object(self):
        line = '{"x": "a", "y": "b", "n": 123456789012345678901234}'
        self.assertIn('"score"', run("score", stdin=line + "\n"))
        self.assertIn("not a JSON object", complaint("score", stdin=f"{line}\0 more\n{line}\n",
                                                     expect=0))

    def test_an_unreadable_time_is_a_bad_line(self):
        told = complaint("score", "--time", "3", stdin="a\tb\tyesterday\n" * 2 + "a\tb\t7\n",
                         expect=0)
        self.assertIn("yesterday", told)

    def test_every_line_has_its_place_in_the_output_also_the_last_if_it_is_empty(self):
        for end in ("\n", "\r\n"):
            for line, bad in (("a\tb", "\tnan"), ('{"x":"a","y":"b"}', "")):
                out = run("score", stdin=2 * (line + end + 2 * end)).split(end)
                self.assertEqual(out.pop(), "")
                self.assertEqual(out[1:3] + out[4:], [bad] * 4)
        self.assertEqual(run("score", "--score-only", stdin="a\tb\n\n"), "0\nnan\n")

    def test_a_line_that_is_too_long_is_a_bad_line_and_takes_no_memory(self):
        size = 512 << 20
        table = self.folder / "long.gz"
        # In parts, since the memory of this process at its peak counts as the command's, too.
        with gzip.open(table, "wb", 1) as file:
            file.write(b"a\tb\n")
            for _ in range(size >> 20):
                file.write(b"x" * (1 << 20))
            file.write(b"\nc\td\n")
        command = subprocess.Popen([PHSIC, "score", table], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        with command:
            out, told = command.stdout.read(), command.stderr.read()
            _, status, usage = os.wait4(command.pid, 0)
            command.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual((command.returncode, out), (0, b"a\tb\t0\n\tnan\nc\td\t0\n"))
        self.assertIn(b"long.gz:2: longer than 64 MiB", told)
        self.assertLess(usage.ru_maxrss << 10, size)

    def test_a_truncated_file_fails_after_what_could_be_read(self):
        table = tsv(row[1:] for row in bitext(2000, 6)).encode()
        path = self.file("cut.gz", gzip.compress(table)[:-3000])
        self.assertIn("cut.gz", complaint("score", *SMALL, path))

    def test_missing_files_are_named(self):
        self.assertIn("nowhere.tsv", complaint("score", "nowhere.tsv"))
        self.assertIn("nowhere.tsv", complaint("score", "--learn", "nowhere.tsv", stdin="a\tb\n"))

    def test_usage_errors_have_a_status_of_their_own(self):
        complaint(expect=2)
        self.assertIn("scroe", complaint("scroe", expect=2))
        self.assertIn("{drop,fail,skip}", complaint("score", "--bad-lines", "maybe", expect=2))
        complaint("rank", expect=2)
        for verb in (["score"], ["rank"], ["eval", "detect"], ["eval", "rank"], ["eval", "next"],
                     ["encoders"]):
            self.assertIn("Usage", run(*verb, "--help"))


class NearlyNothing(Case):
    """A status of its own where more than nine in ten lines are of no use."""

    def test_a_column_that_no_line_has(self):
        table = tsv(row[1:] for row in bitext(300, 7))
        for more, lines in ([], 300), (["--bad-lines", "drop"], 0):
            done = attempt("score", "--y", "9", *more, stdin=table)
            self.assertEqual(done.returncode, 4)
            self.assertEqual(done.stdout.count(b"\tnan\n"), lines)
            told = done.stderr.decode().splitlines()[-1]
            for words in ("standard input: found 300 of 300 lines", "expected one in 10",
                          "line 1: 2 columns, expected at least 9"):
                self.assertIn(words, told)
        self.assertIn(":1: ", complaint("score", "--y", "9", "--bad-lines", "fail", stdin=table,
                                        expect=3))
        self.assertIn('no member "z"', complaint("score", "--y", "z", stdin='{"x":"a","y":"b"}\n',
                                                 expect=4))

    def test_one_useful_line_in_ten_is_enough(self):
        run("score", stdin="bad\n" * 90 + "a\tb\n" * 10)
        complaint("score", stdin="bad\n" * 91 + "a\tb\n" * 9, expect=4)

    def test_one_column_for_both_texts(self):
        table = self.file("t.tsv", "x\ty\na\tb\n")
        for columns in (["--x", "2", "--y", "2"], ["--header", "--x", "y", "--y", "2"],
                        ["--learn", table, "--x", "1", "--y", "1"]):
            self.assertIn("one column for both", complaint("score", *columns, table))
        self.assertIn("one column for both", complaint("score", "--x", "y", stdin='{"y":"a"}\n'))
        run("score", "--x", "2", "--y", "2", "--learn-identical", "true", table)

    def test_two_columns_of_the_same_texts(self):
        copies = tsv((x, x) for _, x, _ in bitext(100, 8))
        told = complaint("score", stdin=copies, expect=4)
        self.assertIn("100 a text with itself, which is only learned with --learn-identical", told)
        run("score", "--learn-identical", "true", stdin=copies)
        # Where another table is learned, the scores of copies may be asked for.
        other = self.file("other.tsv", tsv(row[1:] for row in bitext(300, 9)))
        run("score", *SMALL, "--learn", other, stdin=copies)
        self.assertIn("text with itself", complaint("score", "--learn", self.file("c.tsv", copies),
                                                    stdin="a\tb\n", expect=4))


if __name__ == "__main__":
    unittest.main()
