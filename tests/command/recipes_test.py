"""The recipes of docs/filtering.md, run as they stand."""

import gzip
import os
import re
import subprocess
import unittest

from phsic import IS_SANITIZED, PHSIC, SOURCE, Case, bitext, run, tsv


class Recipes(Case):
    def test_every_recipe_does_what_it_says(self):
        document = (SOURCE / "docs" / "filtering.md").read_text(encoding="utf-8")
        recipes = re.findall(r"```sh\n(.*?)```", document, re.S)
        self.assertGreater(len(recipes), 6)
        pairs = [(x, y) for _, x, y in bitext(2500 if IS_SANITIZED else 4000, 11, 0.2)]
        (self.folder / "corpus.tsv.gz").write_bytes(gzip.compress(tsv(pairs).encode()))
        for side, name in enumerate(("de", "en")):
            self.file(f"corpus.{name}", "".join(pair[side] + "\n" for pair in pairs))
        path = f"{os.path.dirname(PHSIC)}:{os.environ['PATH']}"
        for recipe in recipes:
            with self.subTest(recipe=recipe):
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", recipe], cwd=self.folder,
                                      env={**os.environ, "PATH": path}, capture_output=True,
                                      text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                for name in re.findall(r"(?:-o|>) (\S+)", recipe):
                    if "{}" not in name:
                        self.assertGreater((self.folder / name).stat().st_size, 0, name)
        kept = [(self.folder / f"kept.{name}").read_text().count("\n") for name in ("de", "en")]
        dropped = [(self.folder / name).read_text().count("\n") for name in
                   ("dropped.de", "dropped.en")]
        self.assertEqual(kept[0], kept[1])
        self.assertEqual(dropped[0], dropped[1])
        self.assertEqual(kept[0] + dropped[0], len(pairs))
        self.check_blocks()

    def check_blocks(self):
        """Blocks in any number of processes have given the bytes that one gives."""
        model = ["filter", "--model", self.folder / "model.phsic"]
        unique = gzip.decompress((self.folder / "unique.tsv.gz").read_bytes())
        in_blocks = [path.read_text() for path in sorted(self.folder.glob("block.??????.kept"))]
        self.assertGreater(len(in_blocks), 1)
        self.assertEqual("".join(in_blocks), run(*model, stdin=unique))
        run(*model, self.folder / "corpus.de", self.folder / "corpus.en",
            "-o", self.folder / "whole.de", self.folder / "whole.en")
        for name in ("de", "en"):
            self.assertEqual((self.folder / f"joined.{name}").read_bytes(),
                             (self.folder / f"whole.{name}").read_bytes())


if __name__ == "__main__":
    unittest.main()
