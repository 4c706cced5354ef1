"""The daemon, the command, their encoders and the service where an installation puts them."""

import json
import os
import shutil
import signal
import subprocess
import unittest

from phsic import SOURCE, Case


class Installed(Case):
    def setUp(self):
        super().setUp()
        self.install()
        self.config = self.folder / "etc" / "phsicd" / "phsicd.yaml"

    def install(self):
        subprocess.run(["cmake", "--install", os.environ["PHSIC_BUILD"], "--prefix", self.folder],
                       check=True, capture_output=True)

    def run_installed(self, program, *arguments, stdin=""):
        done = subprocess.run([self.folder / "bin" / program, *arguments], input=stdin, text=True,
                              capture_output=True, cwd="/", timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def phsic(self, *arguments, stdin=""):
        return self.run_installed("phsic", *arguments, stdin=stdin)

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
        for program in ("phsic", "phsicd"):
            self.assertEqual(self.run_installed(program, "--version"), f"{program} {version}\n")

    def test_the_daemon_serves_the_command(self):
        endpoints = {name: f"ipc://{self.folder}/{name}" for name in ("service", "ingest", "feed")}
        settings = [f"--set={name}={endpoint}" for name, endpoint in endpoints.items()]
        connect = ["--connect", endpoints["service"]]
        with subprocess.Popen([self.folder / "bin" / "phsicd", "--config", self.config, *settings],
                              stderr=subprocess.PIPE, text=True, cwd="/") as daemon:
            try:
                self.assertEqual(json.loads(self.phsic("ping", "--json", *connect))["endpoints"],
                                 {name: [endpoint] for name, endpoint in endpoints.items()})
                self.assertEqual(self.phsic("score", *connect, stdin="a\tb\n"), "a\tb\t0\n")
                daemon.send_signal(signal.SIGTERM)
                self.assertIn(" ended status=0", daemon.communicate(timeout=300)[1])
                self.assertEqual(daemon.returncode, 0)
            finally:
                daemon.kill()

    def test_every_configuration_is_accepted(self):
        examples = self.folder / "share" / "doc" / "phsicd" / "examples"
        for file in (self.config, examples / "chat.yaml", examples / "bitext.yaml",
                     examples / "dialogue.yaml"):
            self.assertIn(": fine, ", self.run_installed("phsicd", "--check", file))

    def test_a_configuration_that_is_there_stays(self):
        self.config.write_text("streams: {mine: }\n")
        self.install()
        self.assertEqual(self.config.read_text(), "streams: {mine: }\n")

    def test_the_service_starts_what_is_installed(self):
        unit = self.folder / "lib" / "systemd" / "system" / "phsicd.service"
        text = unit.read_text()
        self.assertIn(f"\nExecStart={self.folder}/bin/phsicd --config {self.config}\n", text)
        self.assertNotIn("@PHSIC", text)
        self.assertIn("u phsicd ", (self.folder / "lib" / "sysusers.d" / "phsicd.conf").read_text())
        self.assertTrue((self.folder / "share" / "doc" / "phsicd" / "operations.md").exists())
        self.assertIsNotNone(shutil.which("systemd-analyze"), "the package systemd is missing")
        done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        # A disk that is full for an hour must not end it for good.
        limits = dict(line.split("=", 1) for line in text.splitlines() if line.startswith("StartLimit"))
        self.assertEqual(limits, {"StartLimitIntervalSec": "0"})
        # Nor may it take the machine along, whatever it is sent.
        document = (self.folder / "share" / "doc" / "phsicd" / "operations.md").read_text()
        for name in ("MemoryHigh", "MemoryMax"):
            (limit,) = [line for line in text.splitlines() if line.startswith(f"{name}=")]
            self.assertRegex(limit, "=[1-9][0-9]?%$")
            self.assertIn(f"`{limit}`", document)


if __name__ == "__main__":
    unittest.main()
