"""What comes before a daemon is ready: checks, locks, recovery, and what others hear of it."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import unittest
from contextlib import closing
from pathlib import Path

from gated import GATED, WithGate
from phsicd import PATIENCE, PHSICD, SMALL, Case, pairs_of

PAIRS = pairs_of(300, 31)


class Check(Case):
    def attempt(self, *arguments):
        return subprocess.run([PHSICD, *map(str, arguments)], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def test_a_check_opens_what_a_start_needs(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = Path(folder.name)
        words = folder / "words.vec"
        words.write_text("2 2\nriver 1 2\nstone 3 4\n")
        nowhere = "wordvec:file=/nowhere/at.all"
        path = folder / "c.yaml"
        for streams, state, named in (
                ({"a": {"encoder": "nowhere"}}, None, ["streams.a", "nowhere"]),
                ({"a": {"encoder": nowhere}, "b": {"encoder": nowhere}}, None,
                 ["streams.a", "streams.b", "/nowhere/at.all"]),
                ({"a": SMALL}, "/nowhere/phsicd.db", ["state: /nowhere: "]),
                ({"a": SMALL}, path, ["not a database"]),
                ({"a": {"encoder": f"wordvec:cache=off,file={words}"}}, folder / "new.db", [])):
            with self.subTest(streams=streams, state=state):
                path.write_text(json.dumps({"streams": streams, "state": str(state or "")}))
                before = sorted(folder.iterdir())
                done = self.attempt("--check", path)
                self.assertEqual(done.returncode, 1 if named else 0, done.stderr)
                for word in (str(path), *named) if named else ():
                    self.assertIn(word, done.stderr)
                self.assertEqual(sorted(folder.iterdir()), before)
        for encoder, status in (("nowhere", 1), (nowhere, 0)):
            path.write_text(json.dumps({"streams": {"a": {"encoder": encoder}}}))
            self.assertEqual(self.attempt("--check", path, "--without-models").returncode, status)
        self.assertEqual(self.attempt("--without-models").returncode, 2)

    def test_a_check_beside_a_daemon_and_after_it_changes_nothing(self):
        daemon = self.daemon(state=True)
        daemon.own.learn(PAIRS[:300])

        def files():
            return {file.name: file.read_bytes() for file in daemon.state.parent.iterdir()
                    if not file.name.endswith("-shm")}

        for end in (None, daemon.kill, daemon.start, daemon.stop):
            if end:
                end()
            before = files()
            done = self.attempt("--check", daemon.file)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(files(), before)
        daemon.config["streams"]["chat"] = {**SMALL, "kernel": "linear"}
        daemon.write()
        done = self.attempt("--check", daemon.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("kernel: found cosine, expected linear", done.stderr)
        daemon.state.unlink()
        done = self.attempt("--check", daemon.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("300 pairs", done.stderr)


class Models(Case):
    def test_a_model_that_was_old_before_a_restart_is_followed_by_another(self):
        options = {**SMALL, "refresh": 200, "held-back": 20}
        daemon = self.daemon({"chat": options}, state=True)
        daemon.own.learn(PAIRS[:200])
        daemon.until(lambda: daemon.stats("chat")["model"] == 1)
        daemon.own.learn(PAIRS[200:300])
        daemon.stop()
        daemon.config["streams"]["chat"] = {**options, "refresh-after": "0.01s"}
        daemon.start()
        daemon.until(lambda: daemon.stats("chat")["model"] == 2)


class Locks(Case):
    def test_a_file_that_was_moved_tells_of_its_pairs_from_the_first_start_on(self):
        daemon = self.daemon(state=True)
        daemon.own.learn(PAIRS[:10])
        daemon.stop()
        self.beside(daemon, "-lock").unlink()
        daemon.start()
        daemon.stop()
        daemon.state.unlink()
        daemon.start(waits=False)
        self.assertEqual(daemon.wait(), 1)
        self.assertIn("10 pairs", daemon.log())

    def beside(self, daemon, ending):
        return daemon.state.with_name(daemon.state.name + ending)

    def assert_kept_out(self, daemon, second):
        second.start(waits=False)
        self.assertEqual(second.wait(), 1)
        self.assertIn("in use", second.log())
        self.assertIs(daemon.ask("ping")["keeping"], True)

    def second(self, daemon):
        """A second daemon that wanted the same state, and has ended."""
        second = self.daemon({"chat": SMALL}, state=daemon.state, waits=False)
        second.wait()
        return second

    def test_a_second_daemon_is_kept_out_when_the_lock_was_removed(self):
        daemon = self.daemon(state=True)
        daemon.own.learn(PAIRS[:10])
        daemon.stop()
        daemon.start()
        second = self.second(daemon)
        self.beside(daemon, "-lock").unlink()
        self.assert_kept_out(daemon, second)
        # What the lock tells is there again with the next commit.
        daemon.own.learn(PAIRS[10:20])
        self.assert_kept_out(daemon, second)
        daemon.kill()
        os.truncate(self.beside(daemon, "-wal"), 0)
        second.start()
        stats = second.stats("chat")
        self.assertEqual((stats["pairs"], stats["lost"]), (10, 10))

    def test_a_file_that_was_written_anew_is_locked_too(self):
        daemon = self.daemon(state=True)
        daemon.own.learn(PAIRS[:10])
        second = self.second(daemon)
        for ending in ("", "-wal", "-shm"):
            self.beside(daemon, ending).unlink()
        daemon.own.learn(PAIRS[:1], promise="accepted")  # it notices
        daemon.until(lambda: daemon.stats()["state"]["failures"] > 0)
        daemon.until(lambda: daemon.ask("ping")["keeping"])
        self.beside(daemon, "-lock").unlink()
        self.assert_kept_out(daemon, second)


class Waiting(WithGate):
    def learned_waiting(self, **settings):
        """A daemon that has learned three pairs and was killed. The last of them has to wait."""
        self.gate.touch()
        daemon = self.gated({"s": GATED}, state=True, **settings)
        daemon.own.learn([["a", "b"], ["c", "d"], ["wait", "e"]], 1)
        daemon.kill()
        self.gate.unlink()
        return daemon

    @staticmethod
    def begin_reload_that_waits(daemon):
        """Of a daemon that has learned waiting and was started without its stream."""
        daemon.config["streams"]["s"] = {**GATED, "queue-pairs": 77}
        daemon.write()
        daemon.signal(signal.SIGHUP)
        daemon.until(lambda: "recovering stream=s" in daemon.log())


class Recovering(Waiting):
    def test_a_daemon_that_recovers_tells_how_far_it_is_and_serves_when_it_is_done(self):
        daemon = self.learned_waiting()
        daemon.start(waits=False)
        self.assertIn("starting", daemon.first_answer())
        answer = daemon.until(lambda: (a := daemon.ping())["starting"]["pairs"] == 2 and a)
        self.assertTrue(answer["ok"])
        self.assertEqual(answer["endpoints"]["ingest"], [daemon.ingest])
        answer["starting"].pop("seconds")
        self.assertEqual(answer["starting"],
                         {"doing": "recovering", "stream": "s", "pairs": 2, "of": 3})
        self.assertRegex(daemon.log(), "(?m) info recovering stream=s from_snapshot=0 to_replay=3$")
        # Other requests wait, and are answered.
        clients = [daemon.client() for _ in range(3)]
        for number, client in enumerate(clients):
            client.send({"op": "learn", "pairs": [[f"x{number}", "y"]], "wait": True})
        bad = daemon.client()
        self.assertEqual(bad.error({"op": "sing"}), "unknown_op")
        self.assertIn("starting", daemon.first_answer())
        self.assertFalse(any(client.socket.poll(0) for client in clients))
        self.gate.touch()
        self.assertTrue(all(client.receive()["durable"] for client in clients))
        daemon.wait_until_ready()
        self.assertEqual(daemon.stats("s")["pairs"], 6)

    def test_requests_beyond_measure_are_refused_while_a_daemon_recovers(self):
        daemon = self.learned_waiting()
        daemon.start(waits=False)
        self.assertIn("starting", daemon.first_answer())
        client = daemon.client()
        for number in range(1100):
            client.send({"op": "score", "pairs": [["a", "b"]], "id": number})
        early = [client.receive() for _ in range(76)]
        self.assertEqual({answer["error"]["code"] for answer in early}, {"overloaded"})
        self.gate.touch()
        self.assertTrue(all(client.receive()["ok"] for _ in range(1024)))
        self.assertEqual(daemon.stats()["bad_requests"], 0)

    def test_a_bad_request_counts_as_one_also_while_a_daemon_recovers(self):
        daemon = self.learned_waiting()
        daemon.start(waits=False)
        self.assertIn("starting", daemon.first_answer())
        client = daemon.client()
        for request in ({"op": "sing"}, {"op": "score", "stream": "none", "pairs": [["a", "b"]]}):
            client.send(request)
        self.assertEqual(client.receive()["error"]["code"], "unknown_op")
        self.gate.touch()
        self.assertEqual(client.receive()["error"]["code"], "unknown_stream")
        daemon.wait_until_ready()
        self.assertEqual(daemon.stats()["bad_requests"], 2)

    def test_a_daemon_that_recovers_ends_when_it_is_told_to(self):
        for ending in (signal.SIGTERM, signal.SIGINT):
            daemon = self.learned_waiting()
            daemon.start(waits=False)
            self.assertIn("starting", daemon.first_answer())
            client = daemon.client()
            client.send({"op": "score", "pairs": [["a", "b"]]})
            client.send({"op": "ping"})
            self.assertIn("starting", client.receive())
            daemon.signal(ending)
            self.assertEqual(client.receive()["error"]["code"], "shutting_down")
            self.assertEqual(daemon.wait(), 0)  # its encoder waits still
            self.assertIn("ends before it has started", daemon.log())
            self.gate.touch()
            daemon.start()
            self.assertEqual(daemon.stats("s")["pairs"], 3)
            daemon.kill()

    def test_a_reload_that_hangs_does_not_outlive_sigterm(self):
        daemon = self.learned_waiting()
        daemon.config["streams"] = {"a": SMALL}
        daemon.start()
        with closing(sqlite3.connect(daemon.state)) as file:
            known = file.execute("select * from stream order by id").fetchall()
        daemon.config["streams"]["new"] = SMALL
        self.begin_reload_that_waits(daemon)
        answer = daemon.ask("learn", pairs=PAIRS[:5], stream="a")
        self.assertIs(answer["durable"], True)
        daemon.signal(signal.SIGTERM)
        daemon.until(lambda: "draining" in daemon.log())
        self.gate.touch()
        self.assertEqual(daemon.wait(), 0)
        # Of the reload nothing stays.
        with closing(sqlite3.connect(daemon.state)) as file:
            self.assertEqual(file.execute("select * from stream order by id").fetchall(), known)
        daemon.start()
        self.assertEqual(daemon.stats("s")["pairs"], 3)


class Notify(Waiting):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.endpoint = f"{folder.name}/notify"
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notices.close)
        self.notices.bind(self.endpoint)
        self.notices.settimeout(PATIENCE)
        self.heard = []

    def hear(self, wanted):
        """Everything up to the notice `wanted`."""
        while wanted not in self.heard:
            self.heard += self.notices.recv(4096).decode().splitlines()
        place = self.heard.index(wanted) + 1
        before, self.heard = self.heard[:place], self.heard[place:]
        return before

    def test_systemd_hears_of_every_step(self):
        daemon = self.daemon(env={"NOTIFY_SOCKET": self.endpoint, "WATCHDOG_USEC": "200000"},
                             through=["sh", "-c", 'WATCHDOG_PID=$$ exec "$0" "$@"'])
        self.hear("READY=1")
        for _ in range(3):
            self.hear("WATCHDOG=1")
        daemon.reload()
        self.hear("RELOADING=1")
        self.assertRegex("\n".join(self.hear("READY=1")), "MONOTONIC_USEC=[0-9]+")
        daemon.config["feed-queue"] = 7
        daemon.reload()  # is refused
        self.hear("RELOADING=1")
        self.hear("READY=1")
        self.hear("WATCHDOG=1")
        daemon.signal(signal.SIGTERM)
        self.hear("STOPPING=1")
        self.assertEqual(daemon.wait(), 0)

    def test_a_reload_that_the_end_breaks_off_is_neither_refused_nor_followed_by_ready(self):
        daemon = self.learned_waiting(env={"NOTIFY_SOCKET": self.endpoint})
        daemon.config["streams"] = {"a": SMALL}
        daemon.start()
        self.begin_reload_that_waits(daemon)
        self.hear("RELOADING=1")
        daemon.signal(signal.SIGTERM)
        self.hear("STOPPING=1")
        self.gate.touch()
        self.assertEqual(daemon.wait(), 0)
        self.notices.setblocking(False)
        with self.assertRaises(BlockingIOError):
            while True:
                self.heard += self.notices.recv(4096).decode().splitlines()
        self.assertNotIn("READY=1", self.heard)
        self.assertNotIn("refused", daemon.log())

    def test_systemd_hears_of_a_start_that_takes_long(self):
        daemon = self.learned_waiting(env={"NOTIFY_SOCKET": self.endpoint})
        daemon.start(waits=False)
        self.hear("EXTEND_TIMEOUT_USEC=600000000")
        # Once a second. The log has less of it.
        for _ in range(10):
            self.hear("STATUS=starting: recovering stream s, 2 of 3 pairs")
            if " starting " in daemon.log():
                break
        self.assertIn(" info starting doing=recovering stream=s pairs=2 of=3 ", daemon.log())
        self.gate.touch()
        self.hear("READY=1")

    def test_a_watchdog_of_another_process_is_left_alone(self):
        daemon = self.daemon(env={"NOTIFY_SOCKET": self.endpoint, "WATCHDOG_USEC": "200000",
                                  "WATCHDOG_PID": str(os.getpid())})
        daemon.signal(signal.SIGTERM)
        self.assertNotIn("WATCHDOG=1", self.hear("STOPPING=1"))


if __name__ == "__main__":
    unittest.main()
