#!/usr/bin/python3
"""Attacks a daemon in every way that once broke one, for as long as one likes, while honest clients
score and learn durably.

usage: soak.py MINUTES [SEED]

In the end

- every honest request was answered, and answered right: the scores of a stream that nobody teaches
  never change, and whatever is refused is refused as `overloaded`;
- nothing that was promised is lost, and nothing counts twice, see torture.py;
- the daemon's memory was never above a bound;
- the log has no line that docs/operations.md does not know, and no error;
- the daemon ends when it is told to, with status 0.

What attackers have learned goes to streams of their own and is bounded, since the journal keeps it.

Most attackers wait for nobody. So the daemon must get a processor to itself: on a busy machine it falls
behind them, honest clients wait for minutes, and what has come and is not read outgrows the bound."""

import json
import random
import re
import resource
import socket
import struct
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, contextmanager, suppress
from types import SimpleNamespace

import zmq

from hostile_test import Zmtp, bad_messages
from phsicd import CONTEXT, SOURCE, Client, Daemon, floats, pairs_of
from torture import PROBES, SETTINGS, STREAMS, Load, Round, Torture

MIB = 1 << 20
MOST_MEMORY = 2048 * MIB  # resident, at the peak
MOST_LEARNED = 128 * MIB  # of texts that attackers send, in all
MESSAGE = 4 * MIB  # the largest, as the default has it
WORK = 0.05  # seconds of new honest requests, then all of them are waited for
PAUSE = 0.5

# Attackers send the same pairs again and again, and long ones, to be learned.
ALL = {"rules": "-not_too_long", "duplicates": "learn"}
ATTACKED = {
    "chat": {"encoder": "hashing:dim=64", "feed-texts": True, "refresh": 200, **ALL},
    "letters": {"kernel": "spectrum:n=3", "pivots": 20, "refresh": 200, **ALL},
    "v": {"encoder": "vectors:dim=4", "kernel": "linear", "half-life": "1h", **ALL},
    "still": {"encoder": "hashing:dim=64"},  # taught before the attack
}


class NotConnected(Exception):
    """The daemon hung up before the handshake was over: the attack did not begin."""


class Attacks:
    """Each method that begins with attack_ is one round of an attack."""

    def __init__(self, daemon, seed, seconds):
        self.daemon = daemon
        self.rng = random.Random(seed)
        self.stop = threading.Event()
        self.rounds = Counter()
        self.lock = threading.Lock()
        self.learned = 0
        self.allowance = MOST_LEARNED / seconds  # a second
        self.begin = time.monotonic()
        self.threads = [threading.Thread(target=self.repeat, args=(name,))
                        for name in dir(self) if name.startswith("attack_")]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def repeat(self, name):
        while not self.stop.is_set():
            try:
                getattr(self, name)()
            except NotConnected:
                continue
            except (OSError, zmq.ZMQError):
                pass  # it hung up, as it may
            finally:
                self.stop.wait(0.1)
            self.rounds[name.removeprefix("attack_")] += 1

    def may_learn(self, size):
        """Whether this many more bytes may be learned."""
        with self.lock:
            if self.learned + size > self.allowance * (time.monotonic() - self.begin) + MIB:
                return False
            self.learned += size
            return True

    @staticmethod
    @contextmanager
    def peer(endpoint, kind, name=b""):
        """A peer that speaks ZeroMQ's protocol as it likes."""
        with ExitStack() as stack:
            try:
                peer = Zmtp(SimpleNamespace(addCleanup=stack.callback), endpoint, kind, name)
            except OSError as problem:
                raise NotConnected from problem
            peer.raw.settimeout(5)
            yield peer

    def ask(self, client, requests, to_the_last=False):
        """Sends all requests, then waits for as many answers, or for the end."""
        for request in requests:
            client.send(request)
        for _ in requests:
            while not client.socket.poll(200):
                if self.stop.is_set() and not to_the_last:
                    return
            client.socket.recv_multipart()

    def ask_once(self, *requests):
        with closing(Client(self.daemon.service)) as client:
            self.ask(client, requests)

    def attack_combining_marks(self):
        text = "a" + "\u0301\u0316" * 250_000
        op = "score-and-learn" if self.may_learn(MIB) else "score"
        self.ask_once(json.dumps({"op": op, "stream": "chat", "pairs": [[text, "b"]]},
                                 ensure_ascii=False).encode())

    def attack_endless_frames(self):
        for endpoint, kind in ((self.daemon.service, "DEALER"), (self.daemon.ingest, "PUSH"),
                               (self.daemon.feed, "SUB")):
            for size in (64 << 10, 100, 0):
                with self.peer(endpoint, kind) as peer:
                    peer.is_cut_by(b"x" * size, flags=1, most=10_000)

    def attack_subscriptions(self):
        for body in (b"\1" + b"t" * (MESSAGE - 100), b"\1t"):
            with self.peer(self.daemon.feed, "SUB") as peer:
                peer.is_cut_by(body, most=60)
        with CONTEXT.socket(zmq.XSUB) as rude:
            rude.linger = 0
            rude.connect(self.daemon.feed)
            for number in range(1000):
                rude.send(b"\1" + str(number).encode())
                rude.send(b"\0" + str(number).encode())
            self.stop.wait(1)

    def attack_ping_behind_messages(self):
        """Hangs up while the daemon does not read, with a PING among what was sent: libzmq aborts."""
        for endpoint, kind in ((self.daemon.service, "DEALER"), (self.daemon.ingest, "PUSH")):
            with self.peer(endpoint, kind) as peer:
                peer.raw.sendall((b"\0\1x" * 70 + b"\4\7\4PING\0\0") * 37)

    def attack_names_to_come(self):
        """Takes a name that ZeroMQ is about to give to somebody else: libzmq aborts. It begins to
        count at the first number of rand()."""
        begin = 0x6b8b4567 + 1000 * self.rounds["names_to_come"]
        # The daemon may well hang up during a handshake: that is the attack.
        with suppress(NotConnected), ExitStack() as stack:
            for number in range(begin, begin + 2000, 100):
                stack.enter_context(self.peer(self.daemon.service, "DEALER",
                                              b"\0" + struct.pack(">I", number)))
            for _ in range(200):
                with self.peer(self.daemon.service, "DEALER"):
                    pass

    def attack_commands_of_zmtp_2(self):
        """Frames of one message for ever; what is between them is a command that libzmq drops."""
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(5)
            raw.connect(self.daemon.service.removeprefix("ipc://"))
            raw.sendall(b"\xff" + bytes(7) + b"\1\x7f\1\5" + b"\0\0")  # a DEALER, without a name
            body = struct.pack(">BQ", 3, MIB) + b"x" * MIB + b"\4\x0a\x09SUBSCRIBE"
            for _ in range(200):
                raw.sendall(body)

    def attack_many_connections(self):
        """More than there are descriptors: libzmq aborts."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the daemon keeps what it had
        with ExitStack() as stack:
            for _ in range(1200):
                raw = stack.enter_context(socket.socket(socket.AF_UNIX))
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0))
                raw.connect(self.daemon.service.removeprefix("ipc://"))

    def attack_starve_learning(self):
        clients = [Client(self.daemon.service) for _ in range(2)]
        request = {"op": "score", "stream": "words", "pairs": PROBES * 4}
        for _ in range(20):
            for client in clients:
                self.ask(client, [request] * 4)
        for client in clients:
            client.close()

    def attack_far_future(self):
        pairs = [{"x": x, "y": y, "time": 1000 * time.time()} for x, y in pairs_of(5, 1)]
        if self.may_learn(1000):
            self.ask_once({"op": "learn", "stream": "v", "pairs": [
                {"x": "1 2 3 4", "y": "4 3 2 1", "time": 1000 * time.time()}]},
                          {"op": "learn", "stream": "chat", "pairs": pairs})

    def attack_unread_answers(self):
        clients = [Client(self.daemon.service, rcvhwm=1) for _ in range(60)]
        for _ in range(100):
            for client in clients:
                client.send({"op": "stats", "stream": "still", "calibration": True})
            if self.stop.wait(0.02):
                break
        for client in clients:
            client.close()

    def attack_stalled_subscriber(self):
        with CONTEXT.socket(zmq.SUB) as stalled:
            stalled.linger = 0
            stalled.rcvhwm = 1
            stalled.subscribe("chat/")
            stalled.connect(self.daemon.feed)
            pair = ["x" * (300 << 10), "y" * (300 << 10)]
            for _ in range(50):
                self.ask_once({"op": "score", "stream": "chat", "pairs": [pair] * 5})
                if self.stop.is_set():
                    return

    def attack_large_pairs_while_models_are_built(self):
        with closing(Client(self.daemon.service)) as client:
            client.send({"op": "refresh", "stream": "chat"})
            while self.may_learn(400 << 10):
                client.send({"op": "learn", "stream": "chat", "promise": "accepted",
                             "pairs": [["x" * (200 << 10), "y" * (200 << 10)]]})
            self.stop.wait(1)

    def attack_large_texts_for_spectrum(self):
        if self.may_learn(MIB):
            letters = "".join(self.rng.choices("abcdefgh ", k=512 << 10))
            self.ask_once({"op": "learn", "stream": "letters", "pairs": [[letters, letters[::-1]]]})

    def attack_many_refreshes(self):
        # None must be left behind: it would change the scores that are compared in the end.
        with closing(Client(self.daemon.service)) as client:
            self.ask(client, [{"op": "refresh", "stream": stream}
                              for stream in ("chat", "letters", "words", "pivots")
                              for _ in range(25)], to_the_last=True)

    def attack_outliers(self):
        shape = {"rows": 2, "dim": 4}
        if not self.may_learn(100):
            return
        with closing(Client(self.daemon.service)) as client:
            client.send({"op": "learn", "stream": "v", "x": shape, "y": shape},
                        floats([[1e9] * 4, [float("nan")] * 4]), floats([[1e9] * 4, [1, 2, 3, 4]]))
            self.ask(client, [{"op": "ping"}])

    def attack_rubbish(self):
        with closing(Client(self.daemon.service)) as client, CONTEXT.socket(zmq.PUSH) as push:
            push.linger = 0
            push.connect(self.daemon.ingest)
            for frames in bad_messages(random.Random(self.rng.random())):
                if b"learn" in frames[0]:
                    continue
                client.socket.send_multipart(frames)
                try:
                    push.send_multipart(frames, zmq.NOBLOCK)
                except zmq.Again:
                    pass
            self.stop.wait(1)

    def attack_too_large_messages(self):
        for size in (MESSAGE + 1, 2 * MESSAGE - 1000, 3 * MESSAGE):
            for endpoint, kind in ((self.daemon.service, "DEALER"), (self.daemon.ingest, "PUSH")):
                with self.peer(endpoint, kind) as peer:
                    peer.is_cut_by(b"x" * size, most=3)

    def attack_long_texts_of_four_clients(self):
        clients = [Client(self.daemon.service) for _ in range(4)]
        request = {"op": "score", "stream": "words", "pairs": [["word " * 300_000, "b"]]}
        for client in clients:
            client.send(request)
        for client in clients:
            self.ask(client, [request])
            client.close()


class HonestLoad(Load):
    def answered(self, request, answer):
        if answer and not answer["ok"] and answer["error"]["code"] != "overloaded":
            raise AssertionError(f"{request}: {answer}")
        super().answered(request, answer)


class Reader(threading.Thread):
    """Asks for the same scores again and again, and says what was wrong with an answer."""

    def __init__(self, daemon):
        super().__init__()
        self.client = daemon.client()
        self.stop = threading.Event()
        self.answers = self.overloaded = 0
        self.longest = 0.0
        self.wrong = None
        self.expected = daemon.ask("score", stream="still", pairs=PROBES)["scores"]
        if len(set(self.expected)) < 10:
            raise AssertionError(f"scores without a meaning: {self.expected}")

    def run(self):
        while not self.stop.wait(0.02) and self.wrong is None:
            began = time.monotonic()
            try:
                answer = self.client.raw({"op": "score", "stream": "still", "pairs": PROBES})
            except AssertionError as problem:
                self.wrong = str(problem)
                return
            self.longest = max(self.longest, time.monotonic() - began)
            if not answer["ok"] and answer["error"]["code"] == "overloaded":
                self.overloaded += 1
            elif answer.get("scores") != self.expected:
                self.wrong = str(answer)[:1000]
            else:
                self.answers += 1


class Soak(Torture):
    def __init__(self, stack, seed):
        super().__init__(stack, seed)
        self.load = HonestLoad(self.rng)
        self.reader = None
        self.most_memory = 0

    def new_daemon(self, name, *streams):
        chosen = {stream: STREAMS[stream] for stream in streams} or {**STREAMS, **ATTACKED}
        return Daemon(self.case, chosen, state=self.folder / name / "phsicd.db", drain="2m",
                      **SETTINGS, defaults={"refresh-after": "never", "id-window": 1 << 22})

    def soak(self, seconds):
        self.daemon.start()
        self.daemon.own.learn(pairs_of(1000, 3), stream="still")
        self.daemon.ask("refresh", stream="still", all=True)
        reader = Reader(self.daemon)
        reader.start()
        try:
            with Attacks(self.daemon, self.rng.random(), seconds) as attacks:
                self.be_honest(seconds, reader)
        finally:
            reader.stop.set()
            reader.join()
        if reader.wrong or reader.answers == 0:
            raise AssertionError(f"after {reader.answers} right answers: {reader.wrong}")
        self.done.update(attacks.rounds)
        if len(attacks.rounds) < len(attacks.threads):
            raise AssertionError(f"not every attack took place: {attacks.rounds}")
        self.reader = reader
        self.most_memory = self.daemon.peak()
        if self.most_memory > MOST_MEMORY:
            raise AssertionError(f"{self.most_memory >> 20} MiB at the peak, expected at most "
                                 f"{MOST_MEMORY >> 20}")
        self.compare()
        self.check_log()

    def be_honest(self, seconds, reader):
        end = time.monotonic() + seconds
        next_word = time.monotonic() + 60
        work = Round(self.load, self.daemon)
        while time.monotonic() < end and reader.wrong is None:
            work.work(WORK)
            work.work(0, new=False)
            time.sleep(PAUSE)
            if time.monotonic() > next_word:
                next_word += 60
                promised = sum(map(len, self.load.promised.values()))
                print(f"{promised} pairs promised, {reader.answers} answers, "
                      f"{self.daemon.peak() >> 20} MiB", flush=True)
        work.end()

    def check_log(self):
        """What an operator reads is in the documents, and nothing went wrong."""
        document = (SOURCE / "docs" / "operations.md").read_text()
        table = document.split("\n## Logs\n")[1].split("\n## ")[0]
        known = set(re.findall(r"`([^`]+)`", "\n".join(
            line.split("|")[1] for line in table.splitlines() if line.startswith("|"))))
        log = (self.daemon.folder / "log").read_text(errors="replace")
        for line in log.splitlines():
            found = re.match(r"[\d-]+ [\d:.]+ (\w+) (.*?)(?: [\w-]+=.*)?$", line)
            if not found or found[1] not in ("info", "warning") or found[2] not in known:
                raise AssertionError(f"unexpected in the log: {line}")

    def report(self):
        return (f"{super().report()}\n{self.reader.answers} answers right, "
                f"{self.reader.overloaded} overloaded, the longest after {self.reader.longest:.2f} s; "
                f"{self.most_memory >> 20} MiB at the peak")


def soak(seconds, seed):
    """Raises an AssertionError if something did not hold. Returns what was done."""
    with ExitStack() as stack:
        one = Soak(stack, seed)
        one.soak(seconds)
        return one.report()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: soak.py MINUTES [SEED]")
    SEED = int(sys.argv[2]) if len(sys.argv) == 3 else random.randrange(10**6)
    print(f"seed {SEED}", flush=True)
    print(soak(60 * float(sys.argv[1]), SEED))
