#!/usr/bin/python3
"""Ends a daemon under load again and again, at any moment, and shows that nothing that was promised
is lost and nothing counts twice.

usage: torture.py [--faults] ROUNDS [SEED]

Clients send pairs with ids, and send those again that were not acknowledged. No pair breaks a rule
or is a duplicate of another, and both are looked for, as by default. The daemon, with one worker or
several for each stream, is killed while it starts, while it works and while it ends, stopped, and
left without power (what was not synced is then lost, see power_failure.py). In the end

- all pairs that were acknowledged as durable are in the journal, and no pair is there twice;
- a daemon that recovers from the journal alone has the same scores, and so has one that was taught
  the same pairs in the same order and was never disturbed, or, where the moments of refreshes matter,
  one with a state that was rebuilt.

With --faults it is the disk that fails under load, in all ways that faulty_disk.cc knows. The
journal has gaps then, and the ids alone tell what has been learned.

Delays are random here, since the moment is what matters. A seed gives the same delays and pairs, not
the same moments."""

import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import zmq

import journal
from phsicd import CONTEXT, PATIENCE, Client, Daemon, bitext, run
from power_failure import fail_power

STREAMS = {
    "words": {"encoder": "hashing:dim=64", "estimator": "gaussian-pmi", "ridge": 1,
              "half-life": 3000, "refresh": 200},
    "counts": {"estimator": "pmi"},
    "pivots": {"encoder": "hashing:dim=64", "kernel": "gaussian:sigma=median", "pivots": 20,
               "half-life": 500, "held-back": 100, "reservoir": 300, "refresh": 150},
}
SETTINGS = {"journal": "keep", "snapshots": 2, "snapshot-after": "1s", "snapshot-bytes": "32KiB"}
PROBES = [[x, y] for _, x, y in bitext(200, 5, 0.5)]
CLIENTS = 4
UNDER_WAY = 3  # requests of each client
LETTERS = str.maketrans("0123456789", "abcdefghij")


class Load:
    """What clients have sent, and what they were promised. The text x of each pair is its own."""

    def __init__(self, rng):
        self.rng = rng
        self.sent = {name: {} for name in STREAMS}  # pairs by x
        self.promised = {name: set() for name in STREAMS}
        self.again = []  # requests that were not acknowledged
        self.resent = self.duplicates = 0

    def pairs(self, stream):
        found = []
        for _, x, y in bitext(self.rng.randint(1, 5), self.rng.random()):
            # A word of its own: a number would make it a near duplicate, which is not learned.
            x = f"{x} {str(len(self.sent[stream])).translate(LETTERS)}"
            if stream == "counts":
                y = y.split()[0]  # seen again and again
            pair = {"x": x, "y": y, "id": x, "time": 1.7e9 + len(self.sent[stream]) / 10}
            self.sent[stream][x] = pair
            found.append(pair)
        return found

    def requests(self):
        """A few that belong together, or one of those that must come again."""
        if self.again:
            self.resent += 1
            return [self.again.pop(0)]
        stream = self.rng.choice(list(STREAMS))
        request = {"op": self.rng.choice(("learn", "score-and-learn")), "stream": stream,
                   "pairs": self.pairs(stream), "wait": self.rng.random() < 0.2}
        durable = {**request, "promise": "durable"}
        accepted = {**request, "promise": "accepted"}
        kind = self.rng.random()
        if kind < 0.1 and stream != "counts":
            return [{"op": "refresh", "stream": stream, "all": self.rng.random() < 0.5}]
        if kind < 0.15:
            return [{"op": "snapshot", "stream": stream}]
        if kind < 0.3:
            return [accepted]
        if kind < 0.45:
            return [accepted, durable]  # the second is a duplicate, and must be as safe as it says
        return [durable]

    def answered(self, request, answer):
        """Takes down what the answer promises. None: there was no answer."""
        if answer and answer["ok"]:
            self.duplicates += answer.get("duplicates", 0)
            if answer.get("durable"):
                self.promised[request["stream"]].update(pair["x"] for pair in request["pairs"])
        elif request.get("promise") == "durable":
            self.again.append(request)


class Round:
    """Clients at work with a daemon that runs."""

    def __init__(self, load, daemon):
        self.load = load
        self.daemon = daemon
        self.poller = zmq.Poller()
        self.clients = {}
        for number in range(CLIENTS):
            client = Client(daemon.service)
            self.clients[client.socket] = (client, {})
            self.poller.register(client.socket, zmq.POLLIN)
        self.push = CONTEXT.socket(zmq.PUSH)
        self.push.linger = 0
        self.push.connect(daemon.ingest)
        self.numbers = iter(range(10**9))

    def work(self, seconds, new=True):
        """Sends for so many seconds; without `new`, until all is acknowledged."""
        deadline = time.monotonic() + (seconds if new else PATIENCE)
        while (left := deadline - time.monotonic()) > 0:
            for client, under_way in self.clients.values():
                while len(under_way) < UNDER_WAY and (new or self.load.again):
                    for request in self.load.requests():
                        number = next(self.numbers)
                        under_way[number] = request
                        client.send({**request, "id": number})
            if new and self.load.rng.random() < 0.05:
                stream = self.load.rng.choice(list(STREAMS))
                self.push.send_json({"stream": stream, "pairs": self.load.pairs(stream)})
            if not new and not any(under_way for _, under_way in self.clients.values()):
                return
            self.take(left)
            if self.daemon.process.poll() is not None:
                raise AssertionError(f"the daemon has ended:\n{self.daemon.log()}")
        if not new:
            raise AssertionError("some requests are never acknowledged")

    def take(self, seconds):
        for socket, _ in self.poller.poll(1000 * seconds):
            client, under_way = self.clients[socket]
            answer = client.receive()
            self.load.answered(under_way.pop(answer["id"]), answer)

    def end(self):
        """What has arrived counts, and nothing that comes later."""
        while self.poller.poll(0):
            self.take(0)
        for client, under_way in self.clients.values():
            for request in under_way.values():
                self.load.answered(request, None)
            client.close()
        self.push.close()


class Torture:
    def __init__(self, stack, seed):
        self.rng = random.Random(seed)
        self.case = SimpleNamespace(addCleanup=stack.callback)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.load = Load(self.rng)
        self.done = Counter()
        self.daemon = self.new_daemon("tortured")
        self.daemon.stop()
        self.calm = self.daemon.env
        self.control = self.folder / "control"
        self.faulty = {**self.calm, "LD_PRELOAD": os.environ["FAULTY_DISK"],
                       "FAULTY_PATH": str(self.daemon.state.parent),
                       "FAULTY_CONTROL": str(self.control)}

    def new_daemon(self, name, *streams):
        return Daemon(self.case, {stream: dict(STREAMS[stream]) for stream in streams or STREAMS},
                      state=self.folder / name / "phsicd.db", **SETTINGS,
                      defaults={"refresh-after": "never", "id-window": 1 << 22})

    def start(self):
        """Starts the daemon with any number of workers: what is learned must not depend on it."""
        for options in self.daemon.config["streams"].values():
            options["workers"] = self.rng.choice((1, 4))
        self.daemon.start(waits=False)

    def check_start(self):
        """Checks that the daemon has found whatever was promised."""
        self.daemon.wait_until_ready()
        for name, promised in self.load.promised.items():
            stats = self.daemon.stats(name)
            if stats["lost"] or stats["recovered"] < len(promised):
                raise AssertionError(f"{name}: {len(promised)} pairs were promised, found {stats}\n"
                                     f"{self.daemon.log()}")
        if old := list(self.daemon.state.parent.glob("*.old-*")):
            raise AssertionError(f"found {old}:\n{self.daemon.log()}")

    def one_end(self):
        end = self.rng.choices(("killed while it started", "killed", "left without power",
                                "killed while it ended", "stopped"), (2, 4, 4, 2, 1))[0]
        self.done[end] += 1
        if end == "left without power":
            before, log = self.folder / "before", self.folder / "log"
            shutil.copytree(self.daemon.state.parent, before)
            self.daemon.env = {**self.faulty, "FAULTY_LOG": str(log)}
        self.start()
        if end == "killed while it started":
            time.sleep(self.rng.uniform(0, 0.1))
            self.daemon.kill()
            return
        self.check_start()
        work = Round(self.load, self.daemon)
        work.work(self.rng.uniform(0, 0.4))
        if end in ("killed while it ended", "stopped"):
            self.daemon.process.terminate()
            if end == "stopped":
                self.daemon.wait()
            time.sleep(self.rng.uniform(0, 0.05))
        self.daemon.kill()
        work.end()
        if end == "left without power":
            fail_power(self.daemon.state.parent, before, log, self.rng)
            shutil.rmtree(before)
            log.unlink()
            self.daemon.env = self.calm

    def one_fault(self):
        fault = self.rng.choice(("ENOSPC", "SHORT", "EROFS", "EIO", "FSYNC", "DEAD"))
        self.done[fault] += 1
        self.daemon.env = self.faulty
        self.start()
        self.check_start()
        work = Round(self.load, self.daemon)
        work.work(self.rng.uniform(0, 0.2))
        self.control.write_text(fault)
        work.work(self.rng.uniform(0, 0.5))
        self.control.write_text("")
        if self.rng.random() < 0.7:
            work.work(self.rng.uniform(1, 2))  # by then it tries again
        self.daemon.kill()
        work.end()

    def finish(self):
        """Sends what is still to be sent."""
        self.daemon.start(waits=False)
        self.check_start()
        work = Round(self.load, self.daemon)
        work.work(0, new=False)
        work.end()

    def refresh(self, daemon, name):
        if name != "counts":
            daemon.ask("refresh", stream=name, all=True)

    def scores(self, daemon, name):
        known = [[pair["x"], pair["y"]] for pair in list(self.load.sent[name].values())[:200]]
        found = daemon.ask("score", stream=name, pairs=PROBES + known)["scores"]
        if len(set(found)) < 10:
            raise AssertionError(f"{name}: scores without a meaning: {found}")
        return found

    def check_journal(self):
        """All that was promised is there, and nothing twice. Returns the pairs of each stream."""
        found = {name: journal.pairs(self.daemon.state, name) for name in STREAMS}
        for name, pairs in found.items():
            count = Counter(x for x, *_ in pairs)
            if missing := self.load.promised[name] - set(count):
                raise AssertionError(f"{name}: promised and lost: {sorted(missing)[:10]}")
            if twice := [x for x in count if count[x] > 1]:
                raise AssertionError(f"{name}: learned more than once: {twice[:10]}")
        return found

    def check_scores(self, daemon, name, expected):
        if (found := self.scores(daemon, name)) != expected:
            raise AssertionError(f"{name} in {daemon.state}: {found}, expected {expected}")

    def replayed(self):
        """A daemon that has the journal alone, from the first pair on."""
        daemon = self.new_daemon("replayed")
        daemon.stop()
        shutil.copy(self.daemon.state, daemon.state)
        with closing(sqlite3.connect(daemon.state)) as file, file:
            file.execute("delete from snapshot")
            file.execute("delete from snapshot_part")
        daemon.start()
        return daemon

    def rebuilt(self, name):
        """A daemon with what the command makes of the journal."""
        file = self.folder / "rebuilt" / "phsicd.db"
        file.parent.mkdir()
        run("state", "rebuild", self.daemon.state, "--stream", name, "-o", file)
        return self.new_daemon("rebuilt", name)

    def undisturbed(self, name, pairs):
        """A daemon that has learned the same pairs in peace."""
        daemon = self.new_daemon(f"undisturbed-{name}", name)
        room = 1
        while pairs:
            answer = daemon.ask("learn", stream=name, wait=True, pairs=[
                {"x": x, "y": y, "time": at} for x, y, at, _ in pairs[:room]])
            pairs = pairs[room:]
            room = answer.get("room", 200)
        self.refresh(daemon, name)
        return daemon

    def end_again_and_again(self, rounds):
        for _ in range(rounds):
            self.one_end()
        self.finish()
        self.compare()

    def compare(self):
        """Stops the daemon, and shows that others come to what it has."""
        scores, counts = {}, {}
        for name in STREAMS:
            self.refresh(self.daemon, name)
            scores[name] = self.scores(self.daemon, name)
            counts[name] = self.daemon.stats(name)["pairs"]
        if self.daemon.stop() != 0:
            raise AssertionError(self.daemon.log())
        pairs = self.check_journal()
        if (found := {name: len(pairs[name]) for name in STREAMS}) != counts:
            raise AssertionError(f"{found} pairs in the journal, {counts} learned")
        run("state", "verify", self.daemon.state, "--replay")
        replayed = self.replayed()
        for name in STREAMS:
            # When pivots change depends on when models came into use.
            peaceful = (self.rebuilt(name) if name == "pivots" else
                        self.undisturbed(name, pairs[name]))
            for daemon in (replayed, peaceful):
                self.check_scores(daemon, name, scores[name])
        self.daemon.start()
        for name in STREAMS:
            self.check_scores(self.daemon, name, scores[name])

    def fail_again_and_again(self, rounds):
        for _ in range(rounds):
            self.one_fault()
        self.finish()
        for name, sent in self.load.sent.items():
            lost = self.learn_again(name, [sent[x] for x in self.load.promised[name]])
            if lost > 0:
                raise AssertionError(f"{name}: promised and lost: {lost} pairs")
            self.learn_again(name, list(sent.values()))
            if (found := self.daemon.stats(name)["pairs"]) != len(sent):
                raise AssertionError(f"{name}: {found} pairs, expected {len(sent)}")

    def learn_again(self, name, pairs, at_once=500):
        """How many of the pairs were new to the daemon."""
        return sum(self.daemon.ask("learn", stream=name, pairs=pairs[start:start + at_once])["learned"]
                   for start in range(0, len(pairs), at_once))

    def report(self):
        sent = sum(map(len, self.load.sent.values()))
        promised = sum(map(len, self.load.promised.values()))
        lines = [f"{count:5} × {what}" for what, count in sorted(self.done.items())]
        return "\n".join([*lines, f"{sent} pairs, {promised} promised and all there; "
                          f"{self.load.resent} requests sent again, {self.load.duplicates} pairs "
                          "recognised as duplicates"])


def torture(rounds, seed, faults=False):
    """Raises an AssertionError if a promise was broken. Returns what was done."""
    with ExitStack() as stack:
        one = Torture(stack, seed)
        if faults:
            one.fail_again_and_again(rounds)
        else:
            one.end_again_and_again(rounds)
        return one.report()


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--faults"]
    if len(arguments) not in (1, 2):
        sys.exit("usage: torture.py [--faults] ROUNDS [SEED]")
    SEED = int(arguments[1]) if len(arguments) == 2 else random.randrange(10**6)
    print(f"seed {SEED}", flush=True)
    print(torture(int(arguments[0]), SEED, "--faults" in sys.argv))
