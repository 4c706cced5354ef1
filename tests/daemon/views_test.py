"""A stream with several views in a daemon: its answers, what it tells, what it keeps."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from phsicd import OPEN, SOURCE, Case, floats, pairs_of, run, tsv

VIEWS = ["hashing:dim=64", {"name": "grams", "encoder": "hashing:dim=128,words=false,seed=2",
                            "ridge": 0.3}]
STREAM = {"views": VIEWS, "refresh-after": "never"}
PAIRS = pairs_of(1200, 7, 0.2)


# Counts pairs of letters. It finds nothing in a text with a river, refuses one with a q, and gives
# NaN for one with a z.
PICKY = r"""
#include "encoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIMENSION 16

static int opened;

static void* picky_open(const char* options, char* error, size_t error_size) {
  (void)options, (void)error, (void)error_size;
  return &opened;
}

static void picky_describe(const void* instance, struct phsic_encoder_facts* facts) {
  (void)instance;
  *facts = (struct phsic_encoder_facts){
      .dimension = DIMENSION, .layout = PHSIC_DENSE, .concurrent = 1, .identity = "picky 1"};
}

static int picky_encode(void* instance, const struct phsic_text* texts, size_t n,
                        struct phsic_rows* rows, char* error, size_t error_size) {
  (void)instance;
  for (rows->done = 0; rows->done < n; ++rows->done) {
    const struct phsic_text* text = &texts[rows->done];
    const unsigned char* bytes = (const unsigned char*)text->bytes;
    float* row = rows->values + rows->done * DIMENSION;
    memset(row, 0, DIMENSION * sizeof(float));
    if (text->size > 0 && memchr(bytes, 'q', text->size) != NULL) {
      snprintf(error, error_size, "a q");
      return PHSIC_BAD_TEXT;
    }
    if (memmem(bytes, text->size, "river", 5) == NULL) {
      for (size_t i = 0; i + 1 < text->size; ++i) {
        row[(256U * bytes[i] + bytes[i + 1]) * 2654435761U >> 28] += 1;
      }
    }
    if (text->size > 0 && memchr(bytes, 'z', text->size) != NULL) row[0] = NAN;
  }
  return PHSIC_OK;
}

static void picky_close(void* instance) { (void)instance; }

const struct phsic_encoder_plugin phsic_encoder = {
    .abi_version = PHSIC_ENCODER_ABI,
    .struct_size = sizeof(struct phsic_encoder_plugin),
    .name = "picky",
    .version = "1",
    .summary = "for tests",
    .options = "[]",
    .open = picky_open,
    .describe = picky_describe,
    .encode = picky_encode,
    .close = picky_close,
};
"""


class Views(Case):
    def with_picky(self, *views):
        """A daemon with a stream of these views, beside one that refuses and fails on some texts."""
        return self.daemon({"chat": {"views": [*views, {"name": "a", "encoder": "picky"}], "refresh-after": "never"}},
                           encoder_path=str(self.picky()))

    def picky(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "picky.c").write_text(PICKY)
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-I", SOURCE / "plugins",
                        "-o", folder / "picky.so", folder / "picky.c"], check=True)
        return folder

    def test_views_that_cannot_score_a_candidate_are_named(self):
        daemon = self.with_picky("hashing:dim=16")
        # The first view cannot read some of them, and there is no model yet.
        self.assertEqual(daemon.ask("rank", x="river", candidates=["a", "q", "z"])["scores"], [0, 0, 0])
        self.assertEqual(daemon.ask("rank", x="a q", candidates=["a", "z"])["scores"], [0, 0])
        daemon.own.learn(pairs_of(3000, 1, 0.2))
        weights = daemon.stats("chat")["view_weights"]
        self.assertGreater(min(weights.values()), 0, weights)  # or nothing is tested
        # Where nobody finds anything, those that count are told.
        left_out = daemon.ask("score", pairs=[["z", ""], ["", ""]])["left_out"]
        self.assertEqual([(left["pair"], left["view"]) for left in left_out],
                         [(0, "a"), (0, "hashing"), (1, "a"), (1, "hashing")])
        for x in "lamp", "a q", "a z":
            for y in "lamp", "river", "a q", "a z", "":
                with self.subTest(x=x, y=y):
                    ranked = daemon.ask("rank", x=x, candidates=[y])
                    scored = daemon.ask("score", pairs=[[x, y]])
                    self.assertAlmostEqual(ranked["scores"][0], scored["scores"][0], delta=1e-4)
                    self.assertEqual([(left["pair"], left["view"]) for left in ranked.get("left_out", [])],
                                     [(left["pair"], left["view"]) for left in scored.get("left_out", [])])

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
        self.assertIn("phsic state rebuild", daemon.log())
        self.assertEqual(daemon.stop(), 0)
        refused = daemon.refuses()
        self.assertIn("views: found grams, hashing; expected one encoder", refused)
        self.assertNotIn("view grams", refused)


if __name__ == "__main__":
    unittest.main()
