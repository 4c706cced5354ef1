"""Ranking, evaluation, choosing a model, and loading encoders."""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from daemon import PHSICD
from phsic import PHSIC, SMALL, SOURCE, Case, attempt, bitext, complaint, run, tsv

# An encoder of two numbers, with places to break it.
ENCODER = r"""
#include "encoder.h"
#ifndef DIMENSION
#define DIMENSION 2
#endif
#ifndef WRITTEN
#define WRITTEN 2
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef VALUE
#define VALUE (float)(t[k].size + d + 1)
#endif
static int instance;
static void* open_it(const char* o, char* e, size_t n) {
  (void)o; (void)e; (void)n;
  return &instance;
}
static void describe(const void* i, struct phsic_encoder_facts* f) {
  (void)i;
  f->dimension = DIMENSION; f->layout = PHSIC_DENSE; f->concurrent = 1; f->flags = FLAGS;
  f->identity = "two";
}
static int encode(void* i, const struct phsic_text* t, size_t n, struct phsic_rows* r, char* e,
                  size_t s) {
  (void)i; (void)e; (void)s;
  for (size_t k = 0; k < n; ++k)
    for (size_t d = 0; d < WRITTEN; ++d)
      r->values[k * WRITTEN + d] = VALUE;
  r->done = n;
  return PHSIC_OK;
}
static void close_it(void* i) { (void)i; }
#ifndef SYMBOL
#define SYMBOL phsic_encoder
#endif
#ifndef ABI
#define ABI PHSIC_ENCODER_ABI
#endif
#ifndef SIZE
#define SIZE sizeof(struct phsic_encoder_plugin)
#endif
#ifndef ENCODE
#define ENCODE encode
#endif
const struct phsic_encoder_plugin SYMBOL = {ABI, SIZE, "two", "1", "two numbers", "[]",
                                            open_it, describe, ENCODE, close_it};
"""


class Ranking(Case):
    def setUp(self):
        super().setUp()
        rows = bitext(1500, 1)
        self.learn = self.file("learn.tsv", tsv(row[1:] for row in rows))
        self.choices = [(row[1], row[2], rows[(i + 7) % 40][2], rows[(i + 11) % 40][2])
                        for i, row in enumerate(rows[:40])]

    def test_candidates_come_best_first_with_their_place(self):
        out = run("rank", *SMALL, "--learn", self.learn, stdin=tsv(self.choices)).splitlines()
        self.assertEqual(len(out), 40)
        first = 0
        for number, (line, row) in enumerate(zip(out, self.choices), 1):
            ranked = json.loads(line)
            self.assertEqual((ranked["line"], ranked["x"]), (number, row[0]))
            scores = [entry["score"] for entry in ranked["ranking"]]
            self.assertEqual(scores, sorted(scores, reverse=True))
            for entry in ranked["ranking"]:
                self.assertEqual(entry["y"], row[entry["candidate"]])
            first += ranked["ranking"][0]["candidate"] == 1
        self.assertGreater(first, 36)

    def test_a_candidate_has_the_score_of_the_pair(self):
        ranked = json.loads(run("rank", *SMALL, "--learn", self.learn, stdin=tsv(self.choices[:1])))
        pairs = [(self.choices[0][0], entry["y"]) for entry in ranked["ranking"]]
        scores = run("score", *SMALL, "--learn", self.learn, "--score-only", stdin=tsv(pairs)).split()
        self.assert_close([entry["score"] for entry in ranked["ranking"]],
                          list(map(float, scores)), 1e-4)

    def test_a_bad_line_stays_in_its_place(self):
        out = run("rank", *SMALL, "--learn", self.learn, stdin="lonely\n" + tsv(self.choices[:1]))
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertIn("error", lines[0])
        self.assertEqual(lines[1]["line"], 2)

    def test_a_table_of_no_use_has_a_status_of_its_own(self):
        lonely = self.file("lonely.tsv", "lonely\n" * 30)
        for verb in (["rank"], ["eval", "rank"]):
            told = complaint(*verb, *SMALL, "--learn", self.learn, lonely, expect=4)
            self.assertIn("lonely.tsv: found 30 of 30 lines", told)
            told = complaint(*verb, *SMALL, "--learn", self.learn, "--y", "9", lonely, expect=4)
            self.assertIn("learn.tsv: found 1500 of 1500 lines", told)
        for verb in (["detect", "--label", "9"], ["next", "--y", "9"]):
            self.assertIn("expected at least 9", complaint("eval", *verb, *SMALL, self.learn,
                                                           expect=4))
            same = [*verb[:1], *(["--label", "1"] if verb[0] == "detect" else [])]
            self.assertIn("one column", complaint("eval", *same, "--x", "2", "--y", "2", self.learn))

    def test_jsonl_names_context_and_candidates(self):
        row = self.choices[0]
        given = json.dumps({"x": row[0], "candidates": row[1:]}) + "\n"
        from_json = json.loads(run("rank", *SMALL, "--learn", self.learn, stdin=given))
        self.assertEqual(from_json, json.loads(run("rank", *SMALL, "--learn", self.learn,
                                                   stdin=tsv([row]))))

    def test_evaluation_counts_the_first_candidate_as_true(self):
        table = self.file("choices.tsv", tsv(self.choices))
        good = json.loads(run("eval", "rank", *SMALL, "--learn", self.learn, table, "--json"))
        for name in ("auc", "mrr", "recall@1", "recall@2", "recall@5"):
            self.assertTrue(0 <= good[name] <= 1)
        self.assertGreater(good["recall@1"], 0.9)
        self.assertEqual(good["recall@5"], 1)
        swapped = self.file("swapped.tsv", tsv((a, c, b, d) for a, b, c, d in self.choices))
        bad = json.loads(run("eval", "rank", *SMALL, "--learn", self.learn, swapped, "--json"))
        self.assertLess(bad["auc"], 0.5)

    def test_the_next_y_of_a_stream_is_told_from_others(self):
        found = json.loads(run("eval", "next", *SMALL, self.learn, "--json"))
        self.assertGreater(found["mrr"], 0.8)
        self.assertEqual(run("eval", "next", *SMALL, self.learn, "--threads", "1"),
                         run("eval", "next", *SMALL, self.learn, "--threads", "3"))


class Detection(Case):
    def test_damage_is_told_by_label_and_measured_without(self):
        rows = bitext(2500, 2, 0.3)
        found = json.loads(run("eval", "detect", "--label", "1", *SMALL, "--json", stdin=tsv(rows)))
        self.assertEqual(set(found["auc"]), {"all", "misaligned"})
        self.assertEqual(found["auc"]["all"], found["auc"]["misaligned"])
        self.assertGreater(found["auc"]["all"], 0.9)
        self.assertGreater(found["self_auc"], 0.7)
        self.assertEqual(found["pairs"], 2000)

    def test_labels_do_not_change_scores(self):
        rows = bitext(1500, 3, 0.3)
        flipped = [("x" if row[0] == "ok" else "ok", *row[1:]) for row in rows]
        one = json.loads(run("eval", "detect", "--label", "1", *SMALL, "--json", stdin=tsv(rows)))
        two = json.loads(run("eval", "detect", "--label", "1", *SMALL, "--json", stdin=tsv(flipped)))
        self.assertAlmostEqual(one["auc"]["all"] + two["auc"]["all"], 1)

    def test_a_label_is_never_taken_for_x_or_y(self):
        rows = bitext(900, 3, 0.3)
        by_number = run("eval", "detect", "--label", "1", *SMALL, "--json", stdin=tsv(rows))
        named = tsv([("kind", "1", "0"), *rows])
        self.assertEqual(by_number, run("eval", "detect", "--header", "--label", "kind", *SMALL,
                                        "--json", stdin=named))

    def test_what_cannot_be_compared_has_no_figure(self):
        rows = [("bad", "a", "b")] + [("ok", f"x{i}", f"y{i}") for i in range(9)]
        found = json.loads(run("eval", "detect", "--label", "1", *SMALL, "--json",
                               stdin=tsv(rows)))
        self.assertEqual(found["auc"], {"all": None, "bad": None})

    def test_a_good_label_that_is_not_there_is_refused(self):
        told = complaint("eval", "detect", "--label", "1", *SMALL, "--good", "fine",
                         stdin=tsv(bitext(50, 4, 0.5)))
        self.assertIn("misaligned", told)


class Choosing(Case):
    def setUp(self):
        super().setUp()
        self.table = self.file("t.tsv", tsv(row[1:] for row in bitext(600, 5)))

    def test_yaml_and_flags_are_the_same(self):
        config = self.file("m.yaml", "x-encoder: {name: hashing, dim: 512}\n"
                                     "encoder: hashing:dim=256\nkernel: linear\nridge: 0.5\n"
                                     "estimator: gaussian-pmi\nrank: 32\n")
        flags = ["--encoder", "hashing:dim=256", "--x-encoder", "hashing:dim=512", "--kernel",
                 "linear", "--ridge", "0.5", "--estimator", "gaussian-pmi", "--rank", "32"]
        self.assertEqual(run("score", "--two-pass", "--config", config, self.table),
                         run("score", "--two-pass", *flags, self.table))
        self.assertNotEqual(run("score", "--two-pass", "--config", config, self.table),
                            run("score", "--two-pass", "--config", config, "--ridge", "3",
                                self.table))

    def test_all_errors_of_a_file_are_told_at_once_with_their_lines(self):
        config = self.file("m.yaml", "kernel: cosinus\nrank: 3\nrigde: 1\nhalf-life: soon\n")
        told = complaint("score", "--config", config, self.table)
        for words in ("m.yaml:1: kernel: ", "m.yaml:3: there is no option rigde",
                      "m.yaml:4: half-life: "):
            self.assertIn(words, told)

    def test_a_file_may_be_empty_but_say_nothing_twice(self):
        empty = self.file("e.yaml", "# nothing\n")
        self.assertEqual(run("score", "--config", empty, *SMALL, self.table),
                         run("score", *SMALL, self.table))
        twice = self.file("t.yaml", "rank: 3\nrank: 4\n")
        self.assertIn("t.yaml:2: rank: found twice", complaint("score", "--config", twice,
                                                               self.table))
        self.assertIn(str(self.folder), complaint("score", "--config", self.folder, self.table))

    def test_a_stream_forgets_in_one_way_only(self):
        told = complaint("score", "--half-life", "300", "--window", "500", self.table)
        self.assertIn("expected one of them", told)

    def test_wrong_choices_say_what_was_found_and_expected(self):
        for flags, found in ((["--ridge", "-1"], "-1"), (["--kernel", "cos"], "cos"),
                             (["--estimator", "best"], "gaussian-pmi"),
                             (["--half-life", "0"], "0"), (["--rank", "many"], "many"),
                             (["--encoder", "hashing:dim"], "dim"),
                             (["--encoder", "hashing:size=3"], "bigrams"),
                             (["--encoder", "hashing:dim=3"], "16 to 32768"),
                             (["--encoder", "nothing"], "wordvec")):
            told = complaint("score", *flags, self.table)
            self.assertIn(found, told)
            self.assertIn("expected" if "nothing" not in flags else "found", told)


class DaemonsConfiguration(Case):
    """--config takes the file of a daemon, too, and one of its streams."""

    def test_a_stream_is_what_it_would_be_in_the_daemon(self):
        table = self.file("t.tsv", tsv(row[1:] for row in bitext(600, 3)))
        config = self.file("d.yaml", "service: tcp://127.0.0.1:7470\n"
                                     "defaults: {encoder: 'hashing:dim=128', half-life: 300}\n"
                                     "streams:\n  a: {workers: 2}\n  b: {window: 256}\n")
        for stream, flags in ("a", ["--half-life", "300"]), ("b", ["--window", "256"]):
            self.assertEqual(run("score", "--config", config, "--stream", stream, table),
                             run("score", *SMALL, *flags, table))
        config.write_text("streams: {only: {encoder: 'hashing:dim=128'}}\n")
        self.assertEqual(run("score", "--config", config, table), run("score", *SMALL, table))

    def test_which_stream_is_asked_for_once(self):
        shipped = SOURCE / "config" / "bitext.yaml"
        told = complaint("score", "--config", shipped, stdin="a\tb\n")
        self.assertEqual(told.count("\n"), 1)
        for words in ("a daemon's configuration", "de-en, fr-en", "--stream"):
            self.assertIn(words, told)
        told = complaint("score", "--config", shipped, "--stream", "de", stdin="a\tb\n")
        self.assertIn("no streams.de, expected one of its streams: de-en, fr-en", told)
        self.assertEqual(run("score", "--config", shipped, "--stream", "de-en", stdin="a\tb\n"),
                         "a\tb\t0\n")

    def test_what_is_wrong_with_it_has_its_line(self):
        config = self.file("d.yaml", "defaults:\n  rank: many\nstreams:\n  a: {seed: no}\n")
        told = complaint("score", "--config", config, stdin="a\tb\n")
        self.assertIn("d.yaml:2: rank", told)
        self.assertIn("d.yaml:4: seed", told)


class Encoders(Case):
    def compile(self, name, *flags):
        """A plugin outside the tree, which uses nothing of it but the header."""
        shutil.copy(SOURCE / "plugins" / "encoder.h", self.folder)
        source = self.file("two.c", ENCODER)
        library = self.folder / name
        subprocess.run(["cc", "-shared", "-fPIC", *flags, "-o", library, source], check=True)
        return library

    def test_a_path_a_folder_and_the_environment_find_a_plugin(self):
        library = self.compile("two.so")
        table = "a\tbb\n" * 3
        expected = run("score", "--encoder", library, stdin=table)
        self.assertEqual(run("score", "--encoder", "two", "--encoder-path", self.folder,
                             stdin=table), expected)
        self.assertEqual(run("score", "--encoder", "two", stdin=table,
                             env={"PHSIC_PLUGIN_PATH": f"/nowhere:{self.folder}"}), expected)
        listed = json.loads(run("encoders", "--json", "--encoder-path", self.folder))
        names = {encoder["name"] for encoder in listed}
        self.assertEqual(names, {"two", "hashing", "wordvec", "fasttext", "vectors"})
        for encoder in listed:
            self.assertIn(encoder["name"], run("encoders", "--encoder-path", self.folder))

    def test_the_document_says_how_to_use_ones_own(self):
        document = (SOURCE / "docs" / "encoders.md").read_text()
        (code,) = re.findall(r"```c\n(.*?)```", document, re.DOTALL)
        shutil.copy(SOURCE / "plugins" / "encoder.h", self.folder)
        self.file("letters.c", code)
        self.file("pairs.tsv", tsv(row[1:] for row in bitext(20, 3)))
        commands = "".join(re.findall(r"```sh\n(.*?)```", document, re.DOTALL))
        path = f"{Path(PHSIC).parent}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-euxc", commands], cwd=self.folder, text=True, check=True,
                              capture_output=True, env={**os.environ, "PATH": path})
        listed, scores = "how often each letter from a to z occurs", done.stdout.splitlines()[-20:]
        self.assertIn(listed, done.stdout)
        self.assertEqual(done.stdout.count("\n".join(scores)), 3)
        (yaml,) = re.findall(r"```yaml\n(.*?)```", document, re.DOTALL)
        config = self.file("phsicd.yaml", yaml.replace("/opt", str(self.folder)))
        subprocess.run([PHSICD, "--check", config], check=True, capture_output=True)

    def test_a_configured_folder_counts_more_than_the_installed_one(self):
        self.compile("hashing.so")
        listed = json.loads(run("encoders", "--json", "--encoder-path", self.folder))
        self.assertEqual([e["file"] for e in listed if e["file"].endswith("/hashing.so")],
                         [str(self.folder / "hashing.so")])

    def test_broken_plugins_are_refused_with_file_found_and_expected(self):
        for flags, words in (
                (["-DABI=7"], ["ABI version 7", "expected 1"]),
                (["-DSIZE=8"], ["8 bytes", "expected"]),
                (["-DSYMBOL=other"], ["no phsic_encoder"]),
                (["-DENCODE=0"], ["encode is null"]),
                (["-DDIMENSION=0"], ["dimension is 0", "expected 1 to 32768"]),
                (["-DDIMENSION=40000"], ["dimension is 40000"]),
                (["-DDIMENSION=3"], ["wrote 4 values", "expected 6", "dimension of 3"]),
                (["-DDIMENSION=1"], ["beyond its dimension of 1"]),
                (["-DFLAGS=6"], ["flags are 0x6", "expected none but 0x1"]),
                (["-DFLAGS=1"], ["says that rows add up", "is 11, expected 12"])):
            library = self.compile("two.so", *flags)
            told = complaint("score", "--encoder", library, stdin="a\tb\n")
            for word in [str(library), *words]:
                self.assertIn(word, told)
            library.unlink()

    def test_an_encoder_that_gives_only_nan_is_of_no_use(self):
        library = self.compile("nan.so", '-DVALUE=__builtin_nanf("")')
        table = self.file("t.tsv", tsv(row[1:] for row in bitext(300, 2)))
        done = attempt("score", "--encoder", library, table)
        self.assertEqual((done.returncode, done.stdout.count(b"\tnan\n")), (4, 300))
        self.assertIn(b"a value is NaN", done.stderr.splitlines()[-1])

    def test_what_is_no_library_is_refused(self):
        told = complaint("score", "--encoder", self.file("x.so", "text"), stdin="a\tb\n")
        self.assertIn("x.so", told)
        self.assertIn("cannot be loaded", told)


if __name__ == "__main__":
    unittest.main()
