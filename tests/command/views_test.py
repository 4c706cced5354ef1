"""Streams with several views: on the command line, in files, in a model file and in a daemon."""

import json
import random
import subprocess
import unittest

from phsic import IS_SANITIZED, SOURCE, WORDS, Case, attempt, bitext, complaint, run, translate, tsv

HASHING = "hashing:dim=128"

# Encoders that are of no use or worse, by KIND: at random by the text, the same for all texts, not a number for all or
# for every third text, when a text first came, and how many came before.
POISON = r"""
#include "encoder.h"

#include <math.h>

#define DIMENSION 8
#define PLACES (1 << 16)

static int opened;
static uint64_t known[PLACES];
static long place_of[PLACES];
static long came;

static void* poison_open(const char* options, char* error, size_t error_size) {
  (void)options, (void)error, (void)error_size;
  return &opened;
}

static void poison_describe(const void* instance, struct phsic_encoder_facts* facts) {
  (void)instance;
  *facts = (struct phsic_encoder_facts){
      .dimension = DIMENSION, .layout = PHSIC_DENSE, .concurrent = 0, .identity = "poison 1"};
}

static uint64_t hash_of(const struct phsic_text* text) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < text->size; ++i) hash = (hash ^ (uint8_t)text->bytes[i]) * 1099511628211u;
  return (hash ^ hash >> 31) * 0x9E3779B97F4A7C15u | 1;
}

static long first_came(uint64_t hash) {
  size_t place = hash >> 48;
  while (known[place] != 0 && known[place] != hash) place = (place + 1) % PLACES;
  if (known[place] == 0) place_of[place] = came++;
  known[place] = hash;
  return place_of[place];
}

static float value_of(uint64_t hash, int d) {
  if (KIND == 1) return 1;
  if (KIND == 2 || (KIND == 3 && hash % 3 == 0)) return NAN;
  if (KIND == 4) return (float)cos(first_came(hash) / (200.0 * (d + 1)) + d % 2);
  if (KIND == 5) return (float)cos(came++ / (200.0 * (d + 1)) + d % 2);
  return (float)(hash * (2 * d + 1) >> 40) / (1 << 23) - 1;
}

static int poison_encode(void* instance, const struct phsic_text* texts, size_t n,
                         struct phsic_rows* rows, char* error, size_t error_size) {
  (void)instance, (void)error, (void)error_size;
  for (rows->done = 0; rows->done < n; ++rows->done) {
    const uint64_t hash = hash_of(&texts[rows->done]);
    for (int d = 0; d < DIMENSION; ++d) rows->values[rows->done * DIMENSION + d] = value_of(hash, d);
  }
  return PHSIC_OK;
}

static void poison_close(void* instance) { (void)instance; }

const struct phsic_encoder_plugin phsic_encoder = {
    .abi_version = PHSIC_ENCODER_ABI,
    .struct_size = sizeof(struct phsic_encoder_plugin),
    .name = "poison",
    .version = "1",
    .summary = "for tests",
    .options = "[]",
    .open = poison_open,
    .describe = poison_describe,
    .encode = poison_encode,
    .close = poison_close,
};
"""
KINDS = ["random", "constant", "nan", "nan_at_times", "when_it_came", "how_many_came"]
PAIRS = 1500 if IS_SANITIZED else 3000


def table(count=PAIRS, seed=1, damage=0.2):
    return tsv((x, y) for _, x, y in bitext(count, seed, damage))


class Views(Case):
    def vectors(self, name="words.vec", words=None, seed=5, same=False):
        """Word vectors of both languages; a word and its translation have nothing in common."""
        rng = random.Random(seed)
        known = words if words is not None else WORDS + [translate(word) for word in WORDS]
        lines = [f"{len(known)} 16"]
        for word in known:
            lines.append(" ".join([word, *("1" if same else f"{rng.gauss(0, 1):.5f}"
                                           for _ in range(16))]))
        return self.file(name, "\n".join(lines) + "\n")

    def word_view(self, **options):
        return ["--view", f"wordvec:file=\"{self.vectors(**options)}\",cache=off"]

    def facts(self, *arguments, damage=0.2):
        """What `eval detect` finds with labelled pairs."""
        # Of fewer pairs chance would decide. Some encoders here go by the order of the texts.
        labelled = self.file("labelled.tsv", tsv(bitext(3000, 1, damage)))
        return json.loads(run("eval", "detect", "--json", "--label", 1, "-x", 2, "-y", 3,
                              "--threads", 1, *arguments, labelled))

    def test_one_view_is_the_stream_that_it_would_be_without(self):
        pairs = table()
        self.assertEqual(run("score", "--view", HASHING, stdin=pairs),
                         run("score", "--encoder", HASHING, stdin=pairs))

    def test_the_order_of_views_makes_no_difference(self):
        pairs = table()
        words = self.word_view()
        self.assertEqual(run("score", "--view", HASHING, *words, stdin=pairs),
                         run("score", *words, "--view", HASHING, stdin=pairs))

    def test_threads_make_no_difference(self):
        pairs = table()
        views = ["--view", HASHING, *self.word_view()]
        self.assertEqual(run("score", "--threads", 1, *views, stdin=pairs),
                         run("score", "--threads", 3, *views, stdin=pairs))

    def test_several_views_rank_with_all_directions_unless_told(self):
        # So many words that there are more directions than 256.
        rng = random.Random(3)
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(800)]
        texts = [rng.choices(words, k=4) for _ in range(PAIRS)]
        pairs = [(" ".join(text), " ".join(map(translate, text))) for text in texts]
        corpus = self.file("corpus.tsv", tsv(pairs))
        choices = self.file("choices.tsv", tsv((pairs[i][0], *(pairs[i + k][1] for k in range(5)))
                                               for i in range(20)))
        one = ["--view", "hashing:dim=512"]
        two = [*one, "--view", "hashing:dim=480,words=false,seed=2"]

        def ranked(*arguments):
            return run("rank", "--learn", corpus, *arguments, choices)

        self.assertEqual(ranked(*two), ranked(*two, "--rank", 0))
        self.assertNotEqual(ranked(*two), ranked(*two, "--rank", 256))
        self.assertEqual(ranked(*one), ranked(*one, "--rank", 256))

    def test_a_useless_view_does_no_harm(self):
        alone = self.facts("--encoder", HASHING)["auc"]["all"]
        useless = {
            "constant": self.word_view(name="constant.vec", same=True),
            "too coarse": ["--view", "hashing:dim=16,seed=3"],
        }
        for what, view in useless.items():
            with self.subTest(what):
                found = self.facts("--view", HASHING, *view)["auc"]["all"]
                self.assertGreater(found, alone - 0.01)

    def poison(self, kind):
        source = self.file("poison.c", POISON)
        library = self.folder / f"{kind}.so"
        subprocess.run(["cc", f"-DKIND={KINDS.index(kind)}", "-shared", "-fPIC", "-I", SOURCE / "plugins",
                        "-o", library, source, "-lm"], check=True)
        return library

    def test_a_poisoned_view_does_no_harm(self):
        small = "hashing:dim=16"  # others could help it
        alone = self.facts("--encoder", small)
        for kind in KINDS[:-1]:
            with self.subTest(kind):
                found = self.facts("--view", small, "--view", self.poison(kind))
                self.assertGreater(found["auc"]["all"], alone["auc"]["all"] - 0.01)
                views = {view["name"]: view for view in found["views"]}
                if kind == "when_it_came":  # where pairs are exchanged with any, it seems to tell something
                    self.assertGreater(views[kind]["self_auc"], 0.55)
                    continue
                self.assertEqual(views["hashing"]["weight"], 1)
                self.assertEqual(found["self_auc"], alone["self_auc"])

    def test_a_view_that_counts_its_texts_is_refused(self):
        library = self.poison("how_many_came")
        self.assertIn('gave "the river" another vector the second time',
                      complaint("score", "--view", HASHING, "--view", library, stdin=table(10)))

    def test_a_view_that_knows_few_words_is_left_out_where_it_knows_none(self):
        few = self.word_view(words=[*WORDS[:9], *map(translate, WORDS[:9])])
        pairs = table(3000)  # as many as it takes for the view to count
        done = attempt("score", "--view", "hashing:dim=16", *few, stdin=pairs)
        self.assertEqual(done.returncode, 0, done.stderr)
        scores = [line.split("\t")[-1] for line in done.stdout.decode().splitlines()]
        self.assertEqual(len(scores), 3000)
        self.assertNotIn("nan", scores)
        self.assertRegex(done.stderr.decode(), r"\d+ pairs were scored without the view wordvec, the "
                                               "first because of nothing in it that the encoder knows")

    def test_views_that_are_left_out_are_told_wherever_pairs_are_scored(self):
        few = self.word_view(words=[*WORDS[:9], *map(translate, WORDS[:9])])
        views = ["--view", "hashing:dim=16", *few]
        model = self.folder / "m.phsic"
        told = run("learn", "-o", model, *views, stdin=table(3000, damage=0))
        self.assertRegex(told, r"wordvec 0\.[1-9]")  # or nothing is tested
        known, unknown = WORDS[0], WORDS[15]
        choices = self.file("choices.tsv", f"{unknown}\t{translate(known)}\t{translate(unknown)}\n"
                                           f"{known}\t{translate(known)}\t{translate(unknown)}\n")
        for verb in (["rank"], ["eval", "rank"]):
            told = attempt(*verb, "--model", model, choices)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn("3 pairs were scored without the view wordvec, the first because of nothing "
                          "in it that the encoder knows", told.stderr.decode())
        told = attempt("score", "--model", model, stdin=f"{unknown}\t{translate(known)}\n")
        self.assertIn("1 pair was scored without the view wordvec, because of nothing in it",
                      told.stderr.decode())
        labelled = tsv(bitext(3000, 1, 0.2))
        told = attempt("eval", "detect", "--label", 1, "-x", 2, "-y", 3, *views, stdin=labelled)
        self.assertRegex(told.stderr.decode(), r"\d+ pairs were scored without the view wordvec")

    def test_a_view_that_can_read_nothing_is_told(self):
        foreign = self.word_view(words=["nobody", "says", "this"])
        views = ["--view", HASHING, *foreign]
        corpus = self.file("corpus.tsv", table(600))
        labelled = self.file("labelled.tsv", tsv(bitext(600, 1, 0.2)))
        line = "the view wordvec could read none of 600 pairs: nothing in it that the encoder knows"
        model = self.folder / "m.phsic"
        for arguments in (["learn", corpus, "-o", model], ["score", corpus], ["filter", corpus],
                          ["eval", "detect", "--label", 1, "-x", 2, "-y", 3, labelled]):
            told = attempt(*arguments, *views)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertIn(line, told.stderr.decode())
        self.assertIn(line, attempt("score", "--model", model, corpus).stderr.decode())
        self.assertNotIn("could read none", attempt("score", "--view", HASHING, "--view", "hashing:dim=16",
                                                    corpus).stderr.decode())

    def test_a_model_file_has_its_views(self):
        corpus = self.file("corpus.tsv", table())
        model = self.folder / "m.phsic"
        views = ["--view", HASHING, *self.word_view()]
        told = attempt("learn", corpus, "-o", model, *views, "--p", "0.05")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex((told.stdout + told.stderr).decode(),
                         r"views hashing [01]\.\d+ .*wordvec [01]\.\d+")
        whole = run("filter", "--model", model, "--annotate", corpus)
        lines = corpus.read_text().splitlines(keepends=True)
        blocks = [run("filter", "--model", model, "--annotate", stdin="".join(lines[first:first + 700]))
                  for first in range(0, PAIRS, 700)]
        self.assertEqual("".join(blocks), whole)
        explained = json.loads(run("explain", "--model", model, "--json", *lines[0].rstrip("\n").split("\t")))
        self.assertEqual([view["name"] for view in explained["views"]], ["hashing", "wordvec"])
        self.assertAlmostEqual(sum(view["weight"] for view in explained["views"]), 1)
        self.assertIn("deviations above random pairings",
                      run("explain", "--model", model, "river stone", translate("river")))
        # A stream of other views is another one.
        self.assertIn("--view: found", complaint("score", "--model", model, "--view", HASHING, corpus))
        # One of the one encoder that it has is the same.
        run("learn", corpus, "-o", model, "--force", "--encoder", HASHING)
        self.assertEqual(run("score", "--model", model, "--view", HASHING, corpus),
                         run("score", "--model", model, corpus))

    def test_views_in_a_file_have_options_of_their_own(self):
        vectors = self.vectors()
        config = self.file("views.yaml", json.dumps({
            "estimator": "gaussian-pmi",
            "views": [HASHING,
                      {"name": "words", "ridge": 0.3,
                       "encoder": {"name": "wordvec", "file": str(vectors), "cache": "off"}}]}))
        found = self.facts("--config", config)
        self.assertGreater(found["auc"]["all"], 0.8)
        self.assertEqual([view["name"] for view in found["views"]], ["hashing", "words"])
        self.assertAlmostEqual(sum(view["weight"] for view in found["views"]), 1)
        stats = self.folder / "stats.json"
        told = attempt("filter", "--config", config, "--stats", stats, stdin=table())
        self.assertRegex(told.stderr.decode(),
                         r"phsic: views hashing [01]\.\d+ \(self-AUC 0\.\d+\), words [01]\.\d+ \(self-AUC 0")
        for view in json.loads(stats.read_text())["views"]:
            self.assertEqual(set(view), {"name", "weight", "self_auc"})
            self.assertGreater(view["self_auc"], 0.5)
        self.assertIn("words", run("eval", "detect", "--label", 1, "-x", 2, "-y", 3, "--config", config,
                                   self.folder / "labelled.tsv"))

    def test_what_is_wrong_with_views_is_told(self):
        self.assertIn("--view: found the view hashing twice",
                      complaint("score", "--view", "hashing", "--view", "hashing", stdin="a\tb\n"))
        self.assertIn("which are the same", complaint("score", "--view", "hashing", "--view", "hashing:dim=1024",
                                                      stdin="a\tb\n"))
        self.assertIn("option file is missing, expected file=TEXT",
                      complaint("score", "--view", "wordvec", stdin="a\tb\n"))
        beside = self.file("beside.yaml", "encoder: hashing:dim=64\n")
        self.assertIn(f"found encoder in {beside} beside --view",
                      complaint("score", "--config", beside, "--view", HASHING, stdin="a\tb\n"))
        self.assertIn("found --encoder beside --view",
                      complaint("score", "--encoder", "hashing:dim=64", "--view", HASHING, stdin="a\tb\n"))
        self.assertIn("none", complaint("score", "--view", "none", "--view", HASHING, stdin="a\tb\n"))
        config = self.file("bad.yaml", "views:\n  - {encoder: hashing, half-life: 3}\n")
        told = complaint("score", "--config", config, stdin="a\tb\n")
        self.assertIn("bad.yaml:2", told)
        self.assertIn("a view has no option half-life", told)
        for views, said in (("[hashing, {name: wordvec, file: w.vec}]",
                             "if wordvec is an encoder, write {encoder: {name: wordvec, file: ...}}"),
                            ("{a: hashing}", "found a mapping, expected a list of views"),
                            ("hashing", "expected a list of views")):
            config = self.file("bad.yaml", f"views: {views}\n")
            self.assertIn(said, complaint("score", "--config", config, stdin="a\tb\n"))
        config = self.file("bad.yaml", "views:\n  - hashing\n  - hashing:dim=64\n  - hashing\n")
        self.assertIn("bad.yaml:4", complaint("score", "--config", config, stdin="a\tb\n"))


if __name__ == "__main__":
    unittest.main()
