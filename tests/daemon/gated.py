"""An encoder that waits, fails, runs out of memory and crashes when a text says so."""

import subprocess
import tempfile
from pathlib import Path

from phsicd import SOURCE, Case

# Counts a few letters. A text that begins with "wait" is encoded when the file GATE is there, one
# that begins with "shy" when it is not, one that begins with "fail" never, one that begins with
# "hoard" takes more memory than there is, and one that begins with "crash" ends the process.
ENCODER = r"""
#include "encoder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* gated_open(const char* options, char* error, size_t error_size) {
  (void)options, (void)error, (void)error_size;
  return malloc(1);
}

static void gated_describe(const void* instance, struct phsic_encoder_facts* facts) {
  (void)instance;
  facts->dimension = DIMENSION;
  facts->layout = PHSIC_DENSE;
  facts->concurrent = 1;
  facts->flags = 0;
  facts->identity = "gated 1";
}

static int begins_with(const struct phsic_text* text, const char* word) {
  return text->size >= strlen(word) && memcmp(text->bytes, word, strlen(word)) == 0;
}

static int gated_encode(void* instance, const struct phsic_text* texts, size_t n,
                        struct phsic_rows* rows, char* error, size_t error_size) {
  (void)instance;
  for (rows->done = 0; rows->done < n; ++rows->done) {
    const struct phsic_text* text = &texts[rows->done];
    float* row = rows->values + rows->done * DIMENSION;
    if (begins_with(text, "hoard")) {
      void* hoard = malloc((size_t)-1 / 4);
      if (hoard == NULL) {
        snprintf(error, error_size, "out of memory");
        return PHSIC_FAILED;
      }
      free(hoard);
    }
    if (begins_with(text, "fail") || (begins_with(text, "shy") && access(GATE, F_OK) == 0)) {
      snprintf(error, error_size, "the accelerator is gone");
      return PHSIC_FAILED;
    }
    if (begins_with(text, "crash")) raise(SIGSEGV);
    while (begins_with(text, "wait") && access(GATE, F_OK) != 0) usleep(1000);
    memset(row, 0, DIMENSION * sizeof(float));
    for (size_t i = 0; i < text->size; ++i) row[text->bytes[i] & 3] += 1;
  }
  return PHSIC_OK;
}

static void gated_close(void* instance) { free(instance); }

const struct phsic_encoder_plugin phsic_encoder = {
    .abi_version = PHSIC_ENCODER_ABI,
    .struct_size = sizeof(struct phsic_encoder_plugin),
    .name = "gated",
    .version = "1",
    .summary = "for tests",
    .options = "[]",
    .open = gated_open,
    .describe = gated_describe,
    .encode = gated_encode,
    .close = gated_close,
};
"""
GATED = {"encoder": "gated", "refresh-after": "never"}


class WithGate(Case):
    dimension = 4

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name)
        cls.gate = cls.path / "gate"
        (cls.path / "gated.c").write_text(ENCODER)
        subprocess.run(["cc", "-shared", "-fPIC", f'-DGATE="{cls.gate}"', f"-DDIMENSION={cls.dimension}",
                        "-I", SOURCE / "plugins", "-o", cls.path / "gated.so",
                        cls.path / "gated.c"], check=True)

    def setUp(self):
        self.gate.unlink(missing_ok=True)

    def gated(self, streams, **settings):
        daemon = self.daemon(streams, encoder_path=str(self.path), **settings)
        self.addCleanup(self.gate.touch)  # nothing hangs when a test fails
        return daemon
