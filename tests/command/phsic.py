"""Runs the command `phsic` as a user does, and makes tables for it."""

import os
import pty
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

PHSIC = os.environ["PHSIC"]
SOURCE = Path(os.environ["PHSIC_SOURCE"])
# What is counted or timed is the same under a sanitizer, and takes ten times as long: less of it does.
IS_SANITIZED = bool(os.environ.get("PHSIC_SANITIZED"))


def run(*arguments, stdin=b"", expect=0, env=None):
    """Standard output as text. Fails unless the command ends with the status `expect`."""
    done = attempt(*arguments, stdin=stdin, env=env)
    if done.returncode != expect:
        raise AssertionError(
            f"phsic {' '.join(map(str, arguments))}: status {done.returncode}, expected {expect}\n"
            f"{done.stderr.decode(errors='replace')}")
    return done.stdout.decode()


def complaint(*arguments, stdin=b"", expect=1, env=None):
    """What the command says on standard error when it ends with the status `expect`."""
    done = attempt(*arguments, stdin=stdin, env=env)
    if done.returncode != expect:
        raise AssertionError(f"status {done.returncode}, expected {expect}: {done.stderr.decode()}")
    return done.stderr.decode()


def attempt(*arguments, stdin=b"", env=None):
    if isinstance(stdin, str):
        stdin = stdin.encode()
    return subprocess.run([PHSIC, *map(str, arguments)], input=stdin, capture_output=True,
                          env={**os.environ, **(env or {})}, timeout=300, check=False)


def on_terminal(*arguments, stdin=b""):
    """What a terminal gets, which must not be more than it holds."""
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        with open(theirs, "wb", buffering=0) as output:
            subprocess.run([PHSIC, *map(str, arguments)], input=stdin, stdout=output, check=True,
                           stderr=subprocess.DEVNULL, timeout=300)
            return terminal.read(4096).decode()


# Big enough for the words below, and quick.
SMALL = ["--encoder", "hashing:dim=128"]


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def assert_close(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        for place, (a, b) in enumerate(zip(found, expected)):
            self.assertLess(abs(a - b), tolerance, f"value {place}: found {a}, expected {b}")


WORDS = ["river", "stone", "cloud", "horse", "bread", "lamp", "winter", "garden", "silver",
         "music", "window", "letter", "bridge", "forest", "candle", "mirror"]


def translate(word):
    """The word in a language that shares nothing with ours."""
    return "".join(chr(0x0430 + (ord(c) * 7 + 3 * i) % 32) for i, c in enumerate(word)) + "ов"


def bitext(pairs, seed, damage=0.0):
    """Sentences and their translations, a share of them paired with another's: (label, x, y)."""
    rng = random.Random(seed)
    sentences = [[rng.choice(WORDS) for _ in range(rng.randint(2, 6))] for _ in range(pairs)]
    rows = []
    for words in sentences:
        label, source = "ok", words
        if rng.random() < damage:
            label, source = "misaligned", rng.choice(sentences)
        rows.append((label, " ".join(words), " ".join(map(translate, source))))
    return rows


def tsv(rows):
    return "".join("\t".join(row) + "\n" for row in rows)
