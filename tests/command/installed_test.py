"""The command, the encoders and the header where an installation puts them."""

import json
import os
import subprocess
import unittest

from phsic import SOURCE, Case


class Installed(Case):
    def setUp(self):
        super().setUp()
        subprocess.run(["cmake", "--install", os.environ["PHSIC_BUILD"], "--prefix", self.folder],
                       check=True, capture_output=True)

    def phsic(self, *arguments, stdin=""):
        return subprocess.run([self.folder / "bin" / "phsic", *arguments], input=stdin, text=True,
                              check=True, capture_output=True, cwd="/").stdout

    def test_the_command_finds_its_own_encoders(self):
        listed = json.loads(self.phsic("encoders", "--json"))
        self.assertEqual({encoder["name"] for encoder in listed},
                         {"fasttext", "hashing", "vectors", "wordvec"})
        for encoder in listed:
            self.assertTrue(encoder["file"].startswith(str(self.folder)), encoder["file"])
        self.assertEqual(self.phsic("score", stdin="a\tb\n"), "a\tb\t0\n")

    def test_the_header_is_there(self):
        installed = self.folder / "include" / "phsic" / "encoder.h"
        self.assertEqual(installed.read_bytes(), (SOURCE / "plugins" / "encoder.h").read_bytes())

    def test_the_version_is_that_of_the_project(self):
        project = (SOURCE / "CMakeLists.txt").read_text()
        version = project.split("VERSION ", 2)[2].split()[0]
        self.assertEqual(self.phsic("--version"), f"phsic {version}\n")


if __name__ == "__main__":
    unittest.main()
