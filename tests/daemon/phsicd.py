"""Runs the daemon `phsicd` as a service manager does, and talks to it as its clients do."""

import itertools
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

import zmq

PHSICD = os.environ["PHSICD"]
SOURCE = Path(os.environ["PHSIC_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "command"))

from phsic import bitext, run, tsv  # noqa: E402,F401 (tests take them from here)

# Seconds until something that must happen counts as never happening. Nothing is measured by it.
PATIENCE = 240

# Big enough for the words of bitext(), and quick. Models come when the test wants them.
SMALL = {"encoder": "hashing:dim=128", "refresh-after": "never"}

# Tests teach the same pairs again and again, and texts that are none: all of them are learned.
# decide_test.py has the defaults.
OPEN = {"rules": "none", "duplicates": "learn"}

CONTEXT = zmq.Context()

# The address sanitizer keeps what was freed; little of it, so that memory can be judged.
SANITIZER = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=16"


def pairs_of(count, seed=1, damage=0.0):
    return [[x, y] for _, x, y in bitext(count, seed, damage)]


def floats(rows):
    """A matrix as a frame of little-endian 32-bit floats."""
    flat = [value for row in rows for value in row]
    return struct.pack(f"<{len(flat)}f", *flat)


class Client:
    """A DEALER: sends as much as it likes, and gets its answers in any order."""

    def __init__(self, endpoint, kind=zmq.DEALER, rcvhwm=0):
        self.socket = CONTEXT.socket(kind)
        self.socket.linger = 0
        self.socket.sndhwm = 0
        self.socket.rcvhwm = rcvhwm
        self.socket.connect(endpoint)
        self.numbers = itertools.count()

    def close(self):
        self.socket.close()

    def send(self, request, *frames):
        """The request as JSON, or as it is if it is bytes."""
        if not isinstance(request, bytes):
            request = json.dumps(request).encode()
        self.socket.send_multipart([request, *frames])

    def receive(self):
        if not self.socket.poll(1000 * PATIENCE):
            raise AssertionError("there was no answer")
        return json.loads(self.socket.recv_multipart()[-1])

    def raw(self, request, *frames):
        """The answer to a request, whatever it is. Nothing else may be under way."""
        self.send(request, *frames)
        return self.receive()

    def ask(self, op, *frames, **members):
        """The answer to a request that must succeed."""
        number = f"ask-{next(self.numbers)}"
        answer = self.raw({"op": op, "id": number, **members}, *frames)
        if not answer["ok"] or answer.pop("id") != number:
            raise AssertionError(f"{op}: {answer}")
        return answer

    def error(self, request, *frames):
        """The code of the error that the request must end with."""
        answer = self.raw(request, *frames)
        if answer["ok"]:
            raise AssertionError(f"{request!r} succeeded: {answer}")
        if not answer["error"]["message"]:
            raise AssertionError("the error has no message")
        return answer["error"]["code"]

    def learn(self, pairs, at_once=200, **members):
        """Teaches in order, a model when one is due included."""
        for start in range(0, len(pairs), at_once):
            self.ask("learn", pairs=pairs[start:start + at_once], wait=True, **members)


class Daemon:
    """A daemon with a folder of its own, on ipc endpoints there. `settings` are keys of its file,
    `overrides` go to --set, and `through` is a command that runs it. `state`: True for a file in
    the folder, or a path."""

    def __init__(self, case, streams=None, env=None, waits=True, tcp=False,
                 through=(), overrides=(), state=None, **settings):
        folder = tempfile.mkdtemp(prefix="phsicd-")
        case.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.case = case
        self.folder = Path(folder)
        self.service = f"ipc://{folder}/service"
        self.ingest = f"ipc://{folder}/ingest"
        self.feed = f"ipc://{folder}/feed"
        self.config = {
            "service": [self.service] + ["tcp://127.0.0.1:*"] * tcp,
            "ingest": self.ingest, "feed": self.feed, "defaults": OPEN,
            "streams": {"chat": SMALL} if streams is None else streams}
        self.config.update({key.replace("_", "-"): value for key, value in settings.items()})
        if state:
            self.state = self.folder / "state" / "phsicd.db" if state is True else Path(state)
            self.state.parent.mkdir(exist_ok=True)
            self.config["state"] = str(self.state)
        sets = [word for override in overrides for word in ("--set", override)]
        self.command = [*through, PHSICD, "--config", self.file, *sets]
        self.env = {**os.environ, "ASAN_OPTIONS": SANITIZER, **(env or {})}
        self.clients = []
        case.addCleanup(lambda: [client.close() for client in self.clients])
        self.start(waits=waits)

    def start(self, *flags, waits=True):
        """Starts the daemon, also again when it has ended: in the same folder, with the configuration
        as it is now."""
        self.write()
        with open(self.folder / "log", "ab") as log:
            self.log_begins = log.tell()
            self.process = subprocess.Popen([*self.command, *flags], stderr=log, env=self.env)
        self.case.addCleanup(self.end, self.process)
        if waits:
            self.wait_until_ready()

    def refuses(self, *flags):
        """Starts the daemon, which must fail, and returns what it says."""
        self.start(*flags, waits=False)
        if self.wait() != 1:
            raise AssertionError(f"status {self.process.returncode}, expected 1:\n{self.log()}")
        return self.log()

    @property
    def file(self):
        return self.folder / "phsicd.yaml"

    def write(self):
        """Writes the configuration as JSON, which is YAML."""
        self.file.write_text(json.dumps(self.config, indent=1))

    def wait_until_ready(self):
        answer = self.first_answer()
        while "starting" in answer:
            self.own.socket.poll(10)
            answer = self.ping()
        self.endpoints = answer["endpoints"]

    def first_answer(self):
        """The answer to the first ping, from a daemon that may be starting."""
        self.own = self.client()
        return self.ping()

    def ping(self):
        """The answer to another ping. Fails when the daemon has ended."""
        self.own.send({"op": "ping"})
        deadline = time.monotonic() + PATIENCE
        while not self.own.socket.poll(50):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the daemon did not start:\n{self.log()}")
        return self.own.receive()

    def client(self, kind=zmq.DEALER, endpoint=None, rcvhwm=0):
        client = Client(endpoint or self.service, kind, rcvhwm)
        self.clients.append(client)
        return client

    def ask(self, op, *frames, **members):
        return self.own.ask(op, *frames, **members)

    def stats(self, stream=None):
        """The statistics of a stream, or of the daemon."""
        answer = self.ask("stats")
        return answer["streams"][stream] if stream else answer["daemon"]

    def until(self, holds):
        """Asks until `holds()` is true, and returns what it gave."""
        deadline = time.monotonic() + PATIENCE
        while not (found := holds()):
            self.ask("ping")
            if time.monotonic() > deadline:
                raise AssertionError(f"it never came true. The log:\n{self.log()}")
        return found

    def settle(self, **members):
        """Returns when all that a stream has done is on the disk: a journal has an order."""
        self.ask("learn", pairs=[], promise="durable", **members)

    def push(self, endpoint=None):
        """A PUSH socket to ingest."""
        socket = CONTEXT.socket(zmq.PUSH)
        socket.linger = -1
        socket.sndhwm = 0
        socket.connect(endpoint or self.ingest)
        self.case.addCleanup(socket.close, 0)
        return socket

    def log(self):
        """What the daemon has logged since its last start."""
        return (self.folder / "log").read_bytes()[self.log_begins:].decode(errors="replace")

    def peak(self):
        """The most memory that it ever had resident, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])

    def signal(self, number):
        self.process.send_signal(number)

    def reload(self):
        """Rewrites the file, and returns the daemon's numbers when it has looked at it."""
        self.write()
        before = self.stats()
        self.signal(signal.SIGHUP)
        looks = before["reloads"] + before["refused_reloads"]

        def has_looked():
            now = self.stats()
            return now if now["reloads"] + now["refused_reloads"] > looks else None

        return self.until(has_looked)

    def wait(self):
        """Waits until the daemon has ended, and returns its exit status."""
        return self.process.wait(timeout=PATIENCE)

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        """Ends it without a warning."""
        self.end(self.process)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()


class Subscriber:
    """A SUB socket on all topics of a stream."""

    def __init__(self, daemon, stream="chat", endpoint=None):
        self.daemon = daemon
        self.stream = stream
        self.socket = CONTEXT.socket(zmq.SUB)
        self.socket.linger = 0
        self.socket.rcvhwm = 0
        self.socket.subscribe(f"{stream}/")
        self.socket.connect(endpoint or daemon.feed)
        daemon.case.addCleanup(self.socket.close, 0)
        self.probes = itertools.count()
        deadline = time.monotonic() + PATIENCE
        while True:  # until the subscription is in force
            self.probe()
            if self.socket.poll(20):
                break
            if time.monotonic() > deadline:
                raise AssertionError("the feed is silent")
        self.catch_up()

    def probe(self):
        """Has a pair scored that only marks a place."""
        name = f"probe-{id(self)}-{next(self.probes)}"
        self.daemon.ask("score", stream=self.stream, pairs=[{"x": "0", "y": "0", "id": name}])
        return name

    def receive(self):
        """Topic and object of the next message."""
        if not self.socket.poll(1000 * PATIENCE):
            raise AssertionError("nothing was published")
        topic, text = self.socket.recv_multipart()
        return topic.decode().removeprefix(f"{self.stream}/"), json.loads(text)

    def catch_up(self):
        """All that was published up to now, probes left out."""
        name = self.probe()
        found = []
        while True:
            topic, message = self.receive()
            if topic == "score" and message.get("id") == name:
                return found
            if not str(message.get("id", "")).startswith("probe-"):
                found.append((topic, message))


class Listener(Subscriber):
    """A subscriber that passes over nothing."""

    def catch_up(self):
        return []

    def first(self):
        """The number that the first pair scored since the daemon's start was given."""
        _, message = self.receive()
        probes_before = int(message["id"].rpartition("-")[2])
        return message["seq"] - probes_before

    def last(self):
        """The number that the newest pair was given."""
        name = self.probe()
        while (message := self.receive()[1]).get("id") != name:
            pass
        return message["seq"]


class Case(unittest.TestCase):
    def daemon(self, *arguments, **settings):
        return Daemon(self, *arguments, **settings)

    @classmethod
    def shared_daemon(cls, *arguments, **settings):
        """A daemon for all tests of the class."""
        return Daemon(SimpleNamespace(addCleanup=cls.addClassCleanup), *arguments, **settings)
