"""What `make run` shows, and what README's first commands show."""

import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from phsic import SOURCE, Case

# A small model is soon built, even by an instrumented program.
DEMO = [sys.executable, SOURCE / "examples" / "live_demo.py", "--build", os.environ["PHSIC_BUILD"],
        "--config", SOURCE / "config" / "phsicd.yaml",
        "--set", "streams.default.encoder=hashing:dim=256"]


class Demo(Case):
    def start(self, *arguments):
        return subprocess.Popen([*DEMO, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True,
                                env={**os.environ, "TMPDIR": str(self.folder)})

    def run_demo(self, *arguments):
        with self.start(*arguments) as demo:
            out, err = demo.communicate(timeout=300)
        self.assertEqual(list(self.folder.iterdir()), [])
        return demo.returncode, out, err

    def test_mismatched_pairs_are_flagged(self):
        status, out, err = self.run_demo("--pairs", "3000", "--rate", "1000")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("\n3000 pairs were scored, ", out)
        self.assertNotIn("lost", out)
        self.assertIn("FLAGGED", out)
        found, mismatched = map(int, re.search(r"\n(\d+) of (\d+) mismatched", out).groups())
        wrong, matched = map(int, re.search(r"\n(\d+) of (\d+) matched", out).groups())
        self.assertGreater(found / mismatched, 0.6)
        self.assertLess(wrong / matched, 0.4)
        self.assertGreater(float(re.search(r"\nself-AUC (\S+),", out)[1]), 0.7)

    def test_ctrl_c_ends_with_a_summary_and_leaves_nothing(self):
        with self.start() as demo:
            while "FLAGGED" not in demo.stdout.readline():
                self.assertIsNone(demo.poll())
            programs = children(demo.pid)
            self.assertEqual(len(programs), 3)
            demo.send_signal(signal.SIGINT)
            out, err = demo.communicate(timeout=300)
        self.assertEqual((demo.returncode, err), (0, ""))
        self.assertIn("mismatched pairs were flagged", out)
        self.assertEqual([pid for pid in programs if Path(f"/proc/{pid}").exists()], [])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_daemon_that_does_not_start_is_told_of(self):
        status, _, err = self.run_demo("--set", "streams.default.rank=many")
        self.assertEqual(status, 1)
        self.assertIn("the daemon ended with status 1", err)
        self.assertIn("streams.default.rank", err)


class QuickStart(Case):
    """The commands of README that start a daemon, word for word."""

    PROGRAMS = {  # on endpoints of our own, and a smaller table
        "two_languages": 'exec {build}/two_languages "${{@/20000/3000}}"',
        "bin/phsicd": 'exec {bin}/phsicd "$@" --set service={ipc}service --set ingest={ipc}ingest '
                      '--set feed={ipc}feed',
        "bin/phsic": 'exec {bin}/phsic "$@" --connect {ipc}service '
                     '$([ "$1" != top ] || echo --count 1)',
    }

    def test_it_shows_the_texts_of_flagged_pairs(self):
        build = os.environ["PHSIC_BUILD"]
        (self.folder / "build" / "release" / "bin").mkdir(parents=True)
        for name, script in self.PROGRAMS.items():
            program = self.file(f"build/release/{name}", "#!/bin/bash\n" + script.format(
                build=build, bin=Path(os.environ["PHSIC"]).parent, ipc=f"ipc://{self.folder}/"))
            program.chmod(0o755)
        section = (SOURCE / "README.md").read_text().split("### The daemon\n")[1].split("\n### ")[0]
        commands = "\n".join(re.findall(r"^    (build/.*)$", section, re.MULTILINE))
        self.assertIn("phsic tail --topic flag", commands)
        shown = self.folder / "shown"
        with shown.open("wb") as output:
            shell = subprocess.Popen(["bash", "-ec", commands], cwd=self.folder, stdout=output,
                                     stderr=output, start_new_session=True)
        self.addCleanup(shell.wait)
        self.addCleanup(os.killpg, shell.pid, signal.SIGKILL)
        self.assertEqual(shell.wait(timeout=300), 0, shown.read_text())
        # There are flags as soon as there is a model.
        deadline = time.monotonic() + 300
        while not (flags := re.findall(r" default/flag .*\n", shown.read_text())):
            self.assertLess(time.monotonic(), deadline, shown.read_text())
            subprocess.run(["build/release/bin/phsic", "send", "pairs.tsv"], cwd=self.folder,
                           stdout=subprocess.DEVNULL, check=True)
        self.assertRegex(flags[0], r'"[a-z …]+" \| "[a-z …]+"')
        self.assertRegex(shown.read_text(), r"sent 3000 pairs\n")
        self.assertRegex(shown.read_text(), r"self-AUC")


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


if __name__ == "__main__":
    unittest.main()
