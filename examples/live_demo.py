#!/usr/bin/python3
"""Streams made-up sentence pairs into a daemon and shows what it makes of them.

Starts phsicd in a temporary folder, pipes two_languages into `phsic send`, and follows the feed. A
share of the pairs is mismatched. The daemon is not told which; their ids tell this program, so that
it can say at the end how many were found. Ctrl-C ends, and so does the last of --pairs.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import zmq

PATIENCE = 60  # seconds without a sign of life from a program until the demo gives up
LOOK = 100  # milliseconds between two looks at the programs
STREAM = "default"


class Failure(Exception):
    """What went wrong, for the user."""


class Daemon:
    """A phsicd of our own, its sockets in `folder`."""

    def __init__(self, program, config, more_settings, folder):
        self.endpoints = {name: f"ipc://{folder}/{name}" for name in ("service", "ingest", "feed")}
        settings = [f"{name}={endpoint}" for name, endpoint in self.endpoints.items()]
        # Sentences of a few words come again by chance: that makes no pair a bad one.
        settings += [f"streams.{STREAM}.feed-texts=true", f"streams.{STREAM}.duplicates=learn",
                     *more_settings]
        self.log = folder / "log"
        with self.log.open("wb") as log:
            # In a session of its own, so that Ctrl-C is ours to hand on.
            self.process = subprocess.Popen(
                [program, "--config", config, *(f"--set={setting}" for setting in settings)],
                stdin=subprocess.DEVNULL, stderr=log, start_new_session=True)
        self.context = zmq.Context()
        self.service = self.socket(zmq.DEALER, "service")
        self.feed = self.socket(zmq.SUB, "feed")
        self.requests = 0

    def socket(self, kind, name):
        socket = self.context.socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.connect(self.endpoints[name])
        return socket

    def require_alive(self):
        status = self.process.poll()
        if status is not None:
            raise Failure(f"the daemon ended with status {status}:\n{self.log.read_text()}")

    def ask(self, **request):
        """The answer to a request."""
        self.requests += 1
        self.service.send_json({"id": self.requests, **request})
        deadline = time.monotonic() + PATIENCE
        answer = {}
        while answer.get("id") != self.requests:
            if self.service.poll(LOOK):
                answer = self.service.recv_json()
            elif time.monotonic() > deadline:
                raise Failure(f"the daemon did not answer {request['op']} in {PATIENCE} s")
            self.require_alive()
        if not answer["ok"]:
            raise Failure(f"{request['op']}: {answer['error']['message']}")
        return answer

    def subscribe(self):
        """Follows the feed. Returns once it comes: what is sent from then on is not missed."""
        self.feed.setsockopt(zmq.SUBSCRIBE, f"{STREAM}/".encode())
        deadline = time.monotonic() + PATIENCE
        while True:
            self.ask(op="score", pairs=[{"x": "is anybody", "y": "there", "id": "hello"}])
            if self.feed.poll(LOOK):
                return
            if time.monotonic() > deadline:
                raise Failure(f"the daemon's feed is silent for {PATIENCE} s")

    def messages(self):
        """What the feed has by now: topics without the stream, and messages."""
        if not self.feed.poll(LOOK):
            return
        try:
            while True:
                topic, message = self.feed.recv_multipart(zmq.NOBLOCK)
                yield topic.decode().split("/")[1], json.loads(message)
        except zmq.Again:
            pass

    def stop(self):
        self.context.destroy(linger=0)
        end(self.process)


class Sender:
    """The generator, piped into `phsic send`."""

    def __init__(self, generator, phsic, daemon, arguments, folder):
        self.log = folder / "sender-log"
        self.made = subprocess.Popen(
            [generator, "--pairs", str(arguments.pairs), "--mismatched", str(arguments.mismatched),
             "--seed", str(arguments.seed)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        with self.log.open("wb") as log:
            self.sent = subprocess.Popen(
                [phsic, "send", "--connect", daemon.endpoints["service"], "--stream", STREAM,
                 "--id", "1", "--x", "2", "--y", "3", "--rate", str(arguments.rate)],
                stdin=self.made.stdout, stdout=subprocess.DEVNULL, stderr=log,
                start_new_session=True)
        self.made.stdout.close()

    def is_done(self):
        """Whether all is sent. Fails if one of the two did."""
        # If sending ends early, so does the generator: the cause comes first.
        for name, process in (("phsic send", self.sent), ("two_languages", self.made)):
            if process.poll() not in (None, 0):
                raise Failure(f"{name} ended with status {process.returncode}\n"
                              f"{self.log.read_text()}")
        return self.sent.returncode == 0

    def stop(self):
        end(self.sent)
        end(self.made)


def end(process):
    """Ends a program: kindly, and if it does not listen, not."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Screen:
    """Counts what the feed says, and shows some of it."""

    SAMPLES = 2  # of each kind, each second

    def __init__(self):
        self.pairs = 0
        self.lost = 0
        self.judged = collections.Counter()  # pairs with a p-value, by what they really are
        self.flagged = collections.Counter()
        self.samples = {False: [], True: []}  # messages to show, by whether they are flagged
        self.latest = None
        self.numbers = {}
        self.next_show = time.monotonic() + 1

    def take(self, topic, message):
        if message.get("id") == "hello":
            self.numbers[topic] = message["seq"]
            return
        self.lost += message["seq"] - self.numbers.get(topic, message["seq"] - 1) - 1
        self.numbers[topic] = message["seq"]
        if topic == "event":
            self.show_event(message)
        elif topic == "flag":
            # It comes right after the pair's score.
            self.flagged[truth(message)] += 1
            self.latest = None
            self.keep(message, True)
        else:
            self.pairs += 1
            if self.latest:
                self.keep(self.latest, False)
            self.latest = None
            if "p_value" in message:
                self.judged[truth(message)] += 1
                self.latest = message

    def keep(self, message, flagged):
        if len(self.samples[flagged]) < self.SAMPLES:
            self.samples[flagged].append(message)

    def show_event(self, event):
        if event["event"] == "refresh" and "self_auc" in event:
            say(f"-- model {event['model']} of {event['model_pairs']} pairs: "
                f"self-AUC {event['self_auc']:.3f}, {event['estimator']}")
        elif event["event"] != "refresh":
            say("-- " + json.dumps(event))

    def show_samples(self):
        """Once a second, a few of the pairs that came."""
        if time.monotonic() < self.next_show:
            return
        self.next_show = time.monotonic() + 1
        for flagged, messages in self.samples.items():
            for message in messages:
                say(f"{message['id']:>17}  {message['score']:7.2f}  p {message['p_value']:.4f}  "
                    f"{'FLAGGED' if flagged else '':7}  {message['x']}  |  {message['y']}")
            messages.clear()

    def summary(self, stats):
        found, mismatched = self.flagged["mismatched"], self.judged["mismatched"]
        wrong, matched = self.flagged["matched"], self.judged["matched"]
        lines = [f"{self.pairs} pairs were scored, {self.pairs - mismatched - matched} of them "
                 "before there was a model to judge them by."]
        if mismatched:
            lines.append(f"{found} of {mismatched} mismatched pairs were flagged "
                         f"({found / mismatched:.1%}).")
        if matched:
            lines.append(f"{wrong} of {matched} matched pairs were flagged wrongly "
                         f"({wrong / matched:.1%}).")
        if "self_auc" in stats:
            lines.append(f"self-AUC {stats['self_auc']:.3f}, model {stats['model']}.")
        if self.lost:
            lines.append(f"{self.lost} messages of the feed were lost.")
        return "\n".join(lines)


def truth(message):
    """What the generator wrote into the id: matched or mismatched."""
    return message["id"].split("-")[1]


def say(text):
    print(text, flush=True)


def follow(daemon, sender, screen, pairs):
    """Shows the feed until `pairs` of it were there; 0: until Ctrl-C."""
    deadline = time.monotonic() + PATIENCE
    while pairs == 0 or screen.pairs + screen.lost < pairs or not sender.is_done():
        before = screen.pairs
        for topic, message in daemon.messages():
            screen.take(topic, message)
        screen.show_samples()
        daemon.require_alive()
        sender.is_done()
        if screen.pairs > before:
            deadline = time.monotonic() + PATIENCE
        elif time.monotonic() > deadline:
            raise Failure(f"no score for {PATIENCE} s, after {screen.pairs} pairs")


def ignore_signals():
    """From here on it ends by itself, and is not to be disturbed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def run(arguments, folder):
    programs = arguments.build / "bin"
    daemon = Daemon(programs / "phsicd", arguments.config, arguments.settings, folder)
    sender = None
    screen = Screen()
    try:
        try:
            daemon.ask(op="ping")
            daemon.subscribe()
            say(f"phsicd listens at {daemon.endpoints['service']}; {arguments.rate:g} pairs/s, "
                f"{arguments.mismatched:.0%} of them mismatched, which it is not told.\n"
                "Each pair is scored before it is learned; p: how often a random pairing scores as "
                "high.\n")
            sender = Sender(arguments.build / "two_languages", programs / "phsic", daemon,
                            arguments, folder)
            follow(daemon, sender, screen, arguments.pairs)
        except KeyboardInterrupt:
            say("")
        ignore_signals()
        say("\n" + screen.summary(daemon.ask(op="stats")["streams"][STREAM]))
    finally:
        ignore_signals()
        if sender:
            sender.stop()
        daemon.stop()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default="build/release", metavar="FOLDER",
                        help="where the programs were built (default: build/release)")
    parser.add_argument("--config", type=Path, default="config/phsicd.yaml", metavar="FILE",
                        help="the daemon's configuration (default: config/phsicd.yaml)")
    parser.add_argument("--pairs", type=int, default=0, metavar="N",
                        help="end after so many; 0: at Ctrl-C (default)")
    parser.add_argument("--rate", type=float, default=2000, metavar="N",
                        help="pairs a second (default: 2000)")
    parser.add_argument("--mismatched", type=float, default=0.15, metavar="SHARE",
                        help="of the pairs (default: 0.15)")
    parser.add_argument("--seed", type=int, default=2018, metavar="N",
                        help="another one gives other sentences (default: 2018)")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE",
                        help="a setting of the daemon; may be given more than once")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    # Even where the shell that started us has them ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="phsicd-"))
    try:
        run(arguments, folder)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Who read what we say has gone. Nothing more is to be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Failure, OSError, zmq.ZMQError) as problem:
        print(f"live_demo: {problem}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
