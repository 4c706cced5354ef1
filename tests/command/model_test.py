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
        scores = run("score", *SMALL, "--learn", self.learn, "--keep-own-share", "--score-only",
                     stdin=tsv(pairs)).split()
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


class ModelFiles(Case):
    """What `phsic learn` writes and --model reads."""

    def setUp(self):
        super().setUp()
        rows = [row for row in bitext(2500, 41, 0.1) if row[1].count(" ") > 1]
        self.rows = list({row[1:]: row for row in rows}.values())[:900]
        self.corpus = self.file("corpus.tsv", tsv(row[1:] for row in self.rows))
        self.model = self.folder / "m.phsic"

    def learn(self, *arguments):
        return run("learn", *SMALL, *arguments)

    def test_the_same_pairs_give_the_same_file(self):
        told = self.learn(self.corpus, "-o", self.model)
        self.assertIn("900 pairs, 0 not learned", told)
        self.learn("--threads", "1", self.corpus, "-o", self.folder / "again.phsic", "--name", "m")
        self.assertEqual(self.model.read_bytes(), (self.folder / "again.phsic").read_bytes())
        self.assertIn("expected none of that name", complaint("learn", self.corpus, "-o",
                                                              self.model))
        self.learn(self.corpus, "-o", self.model, "--force")

    def test_no_corpus_is_standard_input(self):
        self.learn(self.corpus, "-o", self.model)
        piped = self.folder / "piped.phsic"
        run("learn", *SMALL, "-o", piped, "--name", "m", stdin=self.corpus.read_bytes())
        self.assertEqual(piped.read_bytes(), self.model.read_bytes())
        self.assertIn("standard input: found no pair", complaint("learn", "-o", piped, "--force"))
        self.assertIn("found 1 file", complaint("learn", "--aligned", "-o", piped, expect=2))

    def test_a_model_scores_as_the_table_would_that_it_was_learned_from(self):
        self.learn(self.corpus, "-o", self.model)
        query = tsv(row[1:] for row in bitext(300, 42, 0.2))
        for verb in (["score", "--with", "percentile,p-value,decision,reason"], ["score"]):
            self.assertEqual(run(*verb, "--model", self.model, stdin=query),
                             run(*verb, *SMALL, "--learn", self.corpus, "--duplicates", "once",
                                 stdin=query))
        choices = tsv((x, y, self.rows[i + 30][2]) for i, (_, x, y) in enumerate(self.rows[:30]))
        # A model leaves out the pairs that calibrate it, a fifth here; who ranks learns them, too.
        mrr = [json.loads(run("eval", "rank", "--json", *how, stdin=choices))["mrr"]
               for how in (["--model", self.model], [*SMALL, "--learn", self.corpus])]
        self.assertAlmostEqual(*mrr, delta=0.1)
        self.assertGreater(min(mrr), 0.8)
        ranked = run("rank", "--model", self.model, stdin=choices)
        self.assertEqual(ranked.count('"line"'), 30)
        for verb in (["rank"], ["eval", "rank", "--json"]):
            self.assertIn("--model", complaint(*verb, stdin=choices, expect=2))
            complaint(*verb, "--model", self.model, "--learn", self.corpus, expect=2)
        labelled = self.file("labelled.tsv", tsv(bitext(600, 43, 0.3)))
        found = json.loads(run("eval", "detect", "--json", "--label", "1", "--model", self.model,
                               labelled))
        self.assertGreater(found["auc"]["all"], 0.9)
        found = json.loads(run("eval", "next", "--json", "--model", self.model, self.corpus))
        self.assertGreater(found["mrr"], 0.8)

    def test_two_files_give_the_model_of_one_table(self):
        sides = [self.file(f"c.{k}", "".join(row[k] + "\n" for row in self.rows)) for k in (1, 2)]
        self.learn(self.corpus, "-o", self.model)
        other = self.folder / "other.phsic"
        self.learn("--aligned", *sides, "-o", other, "--name", "m")
        self.assertEqual(other.read_bytes(), self.model.read_bytes())
        for files in (sides[:1], [*sides, self.corpus]):
            told = complaint("learn", "--aligned", *files, "-o", self.folder / "n", expect=2)
            self.assertIn("expected two", told)

    def test_learning_goes_on(self):
        half = len(self.rows) // 2
        parts = [self.file(f"{i}.tsv", tsv(row[1:] for row in part))
                 for i, part in enumerate((self.rows[:half], self.rows[half:]))]
        self.learn(*parts, "-o", self.folder / "both.phsic", "--p", "0.01")
        self.learn(parts[0], "-o", self.model, "--p", "0.01")
        self.assertIn("900 pairs", run("learn", parts[1], "-o", self.model, "--update"))
        query = tsv(row[1:] for row in bitext(300, 44, 0.2))
        self.assertEqual(run("filter", "--model", self.model, stdin=query),
                         run("filter", "--model", self.folder / "both.phsic", stdin=query))
        # What it has learned already it has not to learn again.
        self.assertIn("900 pairs, 450 not learned", run("learn", parts[1], "-o", self.model,
                                                     "--update"))
        for flags in (["--encoder", "hashing:dim=64"], ["--p", "0.5"], ["--keep", "0.5"],
                      ["--rules", "hard"]):
            self.assertIn("expected the same", complaint("learn", parts[1], "-o", self.model,
                                                         "--update", *flags))
        run("learn", parts[1], "-o", self.model, "--update", *SMALL, "--p", "0.01")
        complaint("learn", parts[1], "-o", self.folder / "none.phsic", "--update")

    def test_a_model_that_another_has_changed_is_not_written_over(self):
        self.learn(self.corpus, "-o", self.model)
        bytes_before = self.model.read_bytes()
        with subprocess.Popen([PHSIC, "learn", "-", "-o", self.model, "--update"],
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE) as learning:
            # More than a pipe holds: it has read the model by the time this is written.
            learning.stdin.write(tsv(row[1:] for row in bitext(5000, 45, 0.1)).encode())
            learning.stdin.flush()
            os.utime(self.model, (1, 1))
            _, told = learning.communicate()
        self.assertEqual(learning.returncode, 1)
        self.assertIn(b"changed meanwhile", told)
        self.assertEqual(self.model.read_bytes(), bytes_before)

    def test_only_files_are_replaced_and_links_stay(self):
        os.mkfifo(self.folder / "pipe")
        told = complaint("learn", *SMALL, self.corpus, "-o", self.folder / "pipe", "--force")
        self.assertIn("found a pipe, expected a regular file", told)
        self.assertTrue((self.folder / "pipe").is_fifo())
        self.learn(self.corpus, "-o", self.model)
        link = self.folder / "link.phsic"
        link.symlink_to("m.phsic")
        self.learn(self.corpus, "-o", link, "--force", "--p", "0.01")
        self.assertTrue(link.is_symlink())
        self.assertIn("0.01", complaint("learn", self.corpus, "-o", self.model, "--update", "--p",
                                        "0.5"))

    def test_a_damaged_file_is_refused(self):
        self.learn(self.corpus, "-o", self.model, "--reservoir", "64", "--held-back", "64")
        whole = self.model.read_bytes()
        damaged = self.folder / "damaged.phsic"
        step = max(1, len(whole) // 60)
        for place in range(0, len(whole), step):
            for content in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x41]) +
                            whole[place + 1:]):
                damaged.write_bytes(content)
                told = complaint("filter", "--model", damaged, stdin="a\tb\n")
                self.assertIn("damaged.phsic", told)
        for content in (b"", b"PHSIC", os.urandom(5000)):
            damaged.write_bytes(content)
            complaint("explain", "a", "b", "--model", damaged)
            complaint("learn", self.corpus, "-o", damaged, "--update")
            self.assertEqual(damaged.read_bytes(), content)

    def test_what_has_no_end_is_no_model(self):
        self.learn(self.corpus, "-o", self.model)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        huge = self.folder / "huge.phsic"
        for content in (self.model.read_bytes(), b"no model"):
            huge.write_bytes(content)
            os.truncate(huge, 1 << 40)
            self.assertRegex(complaint("score", "--model", huge, stdin="a\tb\n"),
                             "huge.phsic: .*found .*expected")
        for file, found in (("/dev/zero", "a device"), (pipe, "a pipe"), (self.folder, "a folder")):
            for verb in (["score", "--model", file], ["learn", self.corpus, "--update", "-o", file],
                         ["state", "import", self.folder / "s.db", file]):
                self.assertIn(f"found {found}, expected a regular file", complaint(*verb))

    def test_an_explanation_needs_no_daemon(self):
        self.learn(self.corpus, "-o", self.model)
        _, x, y = next(row for row in self.rows if row[0] == "ok")
        told = run("explain", x, y, "--model", self.model, "--top", "2")
        for word in ("score ", "percentile ", "p-value ", "decision keep", "raised by",
                     "the pair itself has taught"):
            self.assertIn(word, told)
        found = json.loads(run("explain", x, y, "--model", self.model, "--json"))
        self.assertEqual((found["decision"], found["reason"]), ("keep", None))
        (score,) = run("score", "--model", self.model, "--score-only",
                       stdin=f"{x}\t{y}\n").split()
        self.assertAlmostEqual(found["score"], float(score), delta=1e-4 * abs(float(score)))
        self.assertEqual(len(found["raise"]), 5)
        # It was learned, and is no witness for itself.
        self.assertNotEqual(found["own_share"], 0)
        everything = json.loads(run("explain", x, y, "--model", self.model, "--json", "--top", 100))
        self.assertNotIn([x, y], [[part["x"], part["y"]] for part in everything["raise"]])
        self.assertEqual(found["words"]["x"]["count"], len(x.split()))
        empty = json.loads(run("explain", "a river", "a river", "--model", self.model, "--json"))
        self.assertEqual((empty["decision"], empty["reason"]), ("drop", "no_identical"))
        for flags in (["--id", "7"], ["--connect", "ipc:///x"], ["--stream", "s"]):
            complaint("explain", x, y, "--model", self.model, *flags, expect=2)
        complaint("explain", expect=2)
        complaint("explain", "a", expect=2)

    def test_it_goes_into_the_state_of_a_daemon_and_comes_out_again(self):
        self.learn(self.corpus, "-o", self.model)
        state = self.folder / "state.db"
        run("state", "import", state, self.model)
        exported = self.folder / "exported.phsic"
        run("state", "export", state, "-o", exported)
        self.assertEqual(run("score", "--model", exported, "--with", "percentile", self.corpus),
                         run("score", "--model", self.model, "--with", "percentile", self.corpus))


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

    def test_a_model_file_that_names_one_by_a_path_has_to_be_trusted(self):
        library = self.compile("two.so")
        model = self.folder / "m.phsic"
        table = self.file("t.tsv", tsv((x, y) for _, x, y in bitext(400, 5)))
        run("learn", "--encoder", library, table, "-o", model)
        for verb in (["score"], ["filter"], ["rank"]):
            self.assertIn("--trust", complaint(*verb, "--model", model, stdin="a\tb\n"))
            run(*verb, "--model", model, "--trust", stdin="a\tb\n")
        self.assertIn("--trust", complaint("explain", "a", "b", "--model", model))
        self.assertIn("--trust", complaint("learn", table, "-o", model, "--update"))

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
