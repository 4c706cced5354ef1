"""Starts the daemon `phsicd` in a folder of its own, over ipc."""

import os
import subprocess
import time

from phsic import SMALL, attempt

PHSICD = os.environ["PHSICD"]


class Daemon:
    """A daemon that runs and builds models by the number of pairs alone, as the command does.
    `settings` are such as streams.default.half-life=2h; `config` may be a file."""

    def __init__(self, folder, *settings, config=None):
        self.service = f"ipc://{folder}/service"
        chosen = [f"{name}=ipc://{folder}/{name}" for name in ("service", "ingest", "feed")]
        chosen += ["streams.default.refresh-after=never",
                   f"streams.default.encoder={SMALL[1]}", *settings]
        self.log = open(folder / "log", "ab")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [PHSICD, *(["--config", config] if config else []),
             *(part for setting in chosen for part in ("--set", setting))],
            stdout=self.log, stderr=self.log)
        self.connect = ["--connect", self.service]
        deadline = time.monotonic() + 60
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError((folder / "log").read_text())

    def is_ready(self):
        done = attempt("ping", "--json", *self.connect, "--timeout", "0.2")
        return done.returncode == 0 and b'"starting"' not in done.stdout

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()
        return self.process.returncode
