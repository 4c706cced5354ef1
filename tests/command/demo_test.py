"""What `make run` shows."""

import os
import re
import signal
import subprocess
import sys
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


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


if __name__ == "__main__":
    unittest.main()
