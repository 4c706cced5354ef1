"""Disks that fail, files that vanish, clocks that jump and encoders that crash: what was promised is
kept, and what can go on goes on."""

import os
import re
import resource
import shutil
import sqlite3
import tempfile
import time
import unittest
from contextlib import closing
from pathlib import Path

from gated import GATED, WithGate
from phsicd import SANITIZER, SMALL, Case, Listener, Subscriber, pairs_of, run

# Models come on request alone.
QUIET = {**SMALL, "refresh": 10**6}
PAIRS = [{"x": x, "y": y, "id": f"p{i}"} for i, (x, y) in enumerate(pairs_of(400, 81))]
PROBES = pairs_of(50, 82)


class WithState(Case):
    """A state in a folder of its own, on a disk that fails when `fault` says so."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "disk" / "phsicd.db"

    def faulty(self, streams=None, **settings):
        env = {"LD_PRELOAD": os.environ["FAULTY_DISK"], "FAULTY_PATH": str(self.file.parent),
               "FAULTY_CONTROL": str(self.folder / "control")}
        return self.daemon(streams or {"chat": QUIET}, env=env, state=self.file, **settings)

    def fault(self, word):
        """Lets a fault of faulty_disk.cc begin. An empty word: all is well."""
        (self.folder / "new").write_text(word)
        os.replace(self.folder / "new", self.folder / "control")

    def beside(self, ending):
        return self.file.with_name(self.file.name + ending)

    def learn(self, daemon, pairs, promise="durable"):
        return daemon.own.raw({"op": "learn", "stream": "chat", "pairs": pairs, "wait": True,
                               "promise": promise})

    def assert_durable(self, daemon, pairs):
        answer = self.learn(daemon, pairs)
        self.assertTrue(answer["ok"] and answer["durable"], answer)

    def assert_refused(self, daemon, pairs):
        answer = self.learn(daemon, pairs)
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["error"]["code"], "not_durable")
        return answer["error"]["message"]

    def learn_until_durable(self, daemon, pairs):
        """Sends the pairs again until they are durable, as a client does."""
        def is_durable():
            answer = self.learn(daemon, pairs)
            if not answer["ok"]:
                self.assertEqual(answer["error"]["code"], "not_durable")
            return answer["ok"] and answer["durable"]

        daemon.until(is_durable)

    def assert_has(self, daemon, pairs):
        """The pairs are there, each once, and no others."""
        found = daemon.stats("chat")["pairs"]
        answer = self.learn(daemon, pairs)
        self.assertEqual((answer["learned"], answer.get("duplicates", 0)), (0, len(pairs)))
        self.assertEqual(found, len(pairs))

    def scores(self, daemon):
        daemon.ask("refresh", stream="chat", all=True)
        return daemon.ask("score", stream="chat", pairs=PROBES)["scores"]

    def events(self, subscriber):
        return [message for topic, message in subscriber.catch_up()
                if topic == "event" and message["event"] == "state"]


class Disk(WithState):
    def assert_withstands(self, fault):
        daemon = self.faulty({"chat": QUIET, "other": QUIET})
        subscriber = Subscriber(daemon)
        self.assert_durable(daemon, PAIRS[:100])

        self.fault(fault)
        self.assert_refused(daemon, PAIRS[100:110])
        self.assertIs(daemon.ask("ping")["keeping"], False)
        state = daemon.stats()["state"]
        self.assertIs(state["keeping"], False)
        self.assertRegex(state["problem"], "full|I/O|readonly|unable to open")
        self.assertGreater(state["failures"], 0)
        self.assertIs(daemon.stats("chat")["keeping"], False)
        events = self.events(subscriber)
        self.assertEqual([event["keeping"] for event in events], [False])
        self.assertTrue(events[0]["message"])

        # A request that comes now teaches nothing; everything else goes on.
        before = daemon.stats("chat")["pairs"]
        self.assert_refused(daemon, PAIRS[110:120])
        self.assertEqual(daemon.stats("chat")["pairs"], before)
        self.assertEqual(daemon.own.error({"op": "snapshot", "stream": "chat"}), "not_durable")
        answer = self.learn(daemon, PAIRS[200:300], "accepted")
        self.assertEqual(answer["learned"], 100)
        self.assertNotIn("durable", answer)
        self.assertGreater(len(set(self.scores(daemon))), 40)

        self.fault("")
        daemon.until(lambda: daemon.ask("ping")["keeping"])
        state = daemon.stats()["state"]
        self.assertIs(state["keeping"], True)
        self.assertNotIn("problem", state)
        told = []

        def is_told():
            told.extend(event["keeping"] for event in self.events(subscriber))
            return told[-1:] == [True]
        daemon.until(is_told)
        # Pairs that were refused may come again, and count once.
        self.assert_durable(daemon, PAIRS[100:120])
        self.assertEqual(daemon.stats("chat")["pairs"], 220)
        scores = self.scores(daemon)

        # What was only accepted has become durable, too.
        daemon.kill()
        daemon.start()
        self.assert_has(daemon, PAIRS[:120] + PAIRS[200:300])
        self.assertEqual(self.scores(daemon), scores)
        self.assertEqual(daemon.stats("chat")["lost"], 0)
        self.assertEqual(list(self.file.parent.glob("*.old-*")), [])

    def assert_promises_hold(self, fault):
        """The daemon dies before the trouble is over."""
        daemon = self.faulty()
        self.assert_durable(daemon, PAIRS[:100])
        self.fault(fault)
        self.assert_refused(daemon, PAIRS[100:110])
        self.learn(daemon, PAIRS[200:300], "accepted")
        daemon.kill()
        self.fault("")
        daemon.start()
        stats = daemon.stats("chat")
        self.assertEqual(stats["lost"], 0)
        self.assertIn(stats["pairs"], (100, 110))  # refused ones may have been on their way
        self.assert_durable(daemon, PAIRS[:110])
        self.assert_has(daemon, PAIRS[:110])

    def test_a_full_disk(self):
        self.assert_withstands("ENOSPC")

    def test_a_disk_that_fills_up_in_the_middle_of_a_write(self):
        self.assert_withstands("SHORT")

    def test_a_disk_that_can_only_be_read(self):
        self.assert_withstands("EROFS")

    def test_errors_of_writing(self):
        self.assert_withstands("EIO")

    def test_a_failing_fsync(self):
        self.assert_withstands("FSYNC")

    def test_a_disk_that_is_gone_for_a_while(self):
        self.assert_withstands("DEAD")

    def test_promises_hold_when_the_daemon_dies_meanwhile(self):
        for fault in ("ENOSPC", "SHORT", "EROFS", "EIO", "FSYNC", "DEAD"):
            with self.subTest(fault=fault):
                self.assert_promises_hold(fault)
                shutil.rmtree(self.file.parent)

    def test_an_orderly_end_meanwhile_is_an_end_with_a_status_of_its_own(self):
        daemon = self.faulty()
        self.assert_durable(daemon, PAIRS[:100])
        self.fault("ENOSPC")
        self.learn(daemon, PAIRS[200:300], "accepted")
        self.assertEqual(daemon.stop(), 1)
        self.assertRegex(daemon.log(), "(?m) error .*without having kept everything.*full")
        self.fault("")
        daemon.start()
        self.assertGreaterEqual(daemon.stats("chat")["pairs"], 100)
        self.assert_durable(daemon, PAIRS[:100])
        self.assertEqual(daemon.stats("chat")["duplicates"], 100)

    def test_pairs_that_nobody_is_promised_are_kept_when_the_disk_is_well_again(self):
        daemon = self.faulty()
        self.fault("ENOSPC")
        self.assert_refused(daemon, PAIRS[:1])
        daemon.push().send_json({"pairs": PAIRS[:200]})
        daemon.until(lambda: daemon.stats("chat")["pairs"] >= 200)
        self.fault("")
        daemon.until(lambda: daemon.ask("ping")["keeping"])
        daemon.kill()
        daemon.start()
        self.assert_has(daemon, PAIRS[:200])

    def test_a_snapshot_that_was_begun_too_early_does_not_make_up_for_what_is_missing(self):
        daemon = self.faulty({"chat": {**QUIET, "encoder": "hashing:dim=1024"}})
        self.fault("ENOSPC")
        self.assert_refused(daemon, PAIRS[:1])
        self.fault("")
        # A snapshot takes a while, and pairs come meanwhile.
        client = daemon.client()
        for number, pair in enumerate(PAIRS):
            if number == 100:
                client.send({"op": "snapshot", "id": "snapshot"})
            client.send({"op": "learn", "pairs": [pair], "promise": "accepted", "id": number})
        answers = [client.receive() for _ in range(len(PAIRS) + 1)]
        self.assertTrue(all(answer["ok"] for answer in answers if answer["id"] != "snapshot"))
        self.learn_until_durable(daemon, PAIRS[:1])
        daemon.kill()
        daemon.start()
        self.assert_has(daemon, PAIRS)

    def test_numbers_of_the_feed_never_come_again_whatever_failed_when_they_were_given(self):
        daemon = self.faulty()
        self.fault("ENOSPC")
        self.assert_refused(daemon, PAIRS[:1])
        daemon.ask("score", pairs=PROBES)
        last = Listener(daemon).last()
        self.fault("")
        daemon.until(lambda: daemon.ask("ping")["keeping"])
        self.assert_durable(daemon, PAIRS[:10])
        daemon.kill()
        daemon.start()
        self.assertGreater(Listener(daemon).first(), last)

    def test_a_log_that_a_reader_keeps_from_getting_shorter_is_told_of(self):
        daemon = self.faulty({"chat": {**QUIET, "encoder": "hashing:dim=1024"}})
        subscriber = Subscriber(daemon)
        self.assert_durable(daemon, PAIRS)
        with closing(sqlite3.connect(self.file)) as reader:
            reader.execute("begin")
            reader.execute("select count(*) from journal").fetchone()
            while daemon.stats()["state"]["log_bytes"] < 1 << 26:
                daemon.ask("snapshot")
        self.assertRegex(daemon.log(), "(?m) warning log of the state grows .*bytes=[0-9]{8}")
        daemon.until(lambda: daemon.ask("snapshot") and
                     daemon.stats()["state"]["log_bytes"] < 1 << 25)
        daemon.until(lambda: "log of the state is short again" in daemon.log())
        events = self.events(subscriber)
        self.assertTrue(all(event["keeping"] for event in events))
        sizes = [event["log_bytes"] for event in events]
        self.assertGreaterEqual(sizes[0], 1 << 26)
        self.assertEqual(sizes[-1], 0)

    def test_a_second_failure_is_told_and_survived_as_the_first(self):
        daemon = self.faulty()
        subscriber = Subscriber(daemon)
        for start, fault in ((0, "FSYNC"), (100, "ENOSPC")):
            self.assert_durable(daemon, PAIRS[start:start + 50])
            self.fault(fault)
            self.assert_refused(daemon, PAIRS[start + 50:start + 100])
            self.fault("")
            self.learn_until_durable(daemon, PAIRS[start + 50:start + 100])
        self.assertEqual([event["keeping"] for event in self.events(subscriber)],
                         [False, True] * 2)
        daemon.kill()
        daemon.start()
        self.assert_has(daemon, PAIRS[:200])


class Files(WithState):
    def assert_recovers(self, *endings):
        """The files are removed, which only a look for them shows."""
        daemon = self.faulty()
        self.assert_durable(daemon, PAIRS[:100])
        for ending in endings:
            self.beside(ending).unlink()
        self.learn(daemon, PAIRS[300:], "accepted")
        self.learn_until_durable(daemon, PAIRS[100:200])
        scores = self.scores(daemon)
        self.assertGreater(daemon.stats()["state"]["failures"], 0)
        daemon.kill()
        daemon.start()
        self.assert_has(daemon, PAIRS[:200] + PAIRS[300:])
        self.assertEqual(self.scores(daemon), scores)

    def test_a_state_that_was_removed_is_written_anew(self):
        self.assert_recovers("")

    def test_a_state_that_was_removed_with_all_beside_it_is_written_anew(self):
        self.assert_recovers("", "-wal", "-shm")

    def test_a_state_that_was_removed_from_a_full_disk_is_written_anew_when_there_is_room(self):
        for fault in ("ENOSPC", "FSYNC"):
            with self.subTest(fault=fault):
                daemon = self.faulty()
                self.assert_durable(daemon, PAIRS[:100])
                self.fault(fault)
                for ending in ("", "-wal", "-shm"):
                    self.beside(ending).unlink()
                self.assert_refused(daemon, PAIRS[100:110])
                failures = daemon.stats()["state"]["failures"]
                daemon.until(lambda: daemon.stats()["state"]["failures"] > failures)  # it tried
                self.fault("")
                self.learn_until_durable(daemon, PAIRS[:200])
                daemon.kill()
                daemon.start()
                self.assert_has(daemon, PAIRS[:200])
                daemon.kill()
                shutil.rmtree(self.file.parent)

    def test_a_stream_keeps_its_number_in_a_file_that_is_written_anew(self):
        daemon = self.faulty({"aside": QUIET, "chat": QUIET})
        self.assert_durable(daemon, PAIRS[:100])
        daemon.stop()
        del daemon.config["streams"]["aside"]
        daemon.start()
        number = self.number()
        self.assertGreater(number, 1)
        for ending in ("", "-wal", "-shm"):
            self.beside(ending).unlink()
        self.learn_until_durable(daemon, PAIRS[:200])
        self.assertEqual(self.number(), number)
        run("state", "verify", self.file)

    def number(self):
        with closing(sqlite3.connect(self.file)) as file:
            return file.execute("select id from stream where name = 'chat'").fetchone()[0]

    def test_a_log_that_was_removed_is_noticed(self):
        self.assert_recovers("-wal")

    def test_a_state_that_was_replaced_is_left_alone_until_the_next_start(self):
        other = self.daemon({"chat": QUIET}, state=self.folder / "other" / "other.db")
        other.own.learn([[pair["x"], pair["y"]] for pair in PAIRS[:7]])
        self.assertEqual(other.stop(), 0)
        daemon = self.faulty()
        subscriber = Subscriber(daemon)
        self.assert_durable(daemon, PAIRS[:100])
        os.replace(self.folder / "other" / "other.db", self.file)
        content = self.file.read_bytes()
        self.assert_refused(daemon, PAIRS[100:110])
        self.assertIs(daemon.ask("ping")["keeping"], False)
        self.assertIn("replaced", daemon.stats()["state"]["problem"])
        self.assertEqual([event["keeping"] for event in self.events(subscriber)], [False])
        self.assertEqual(self.learn(daemon, PAIRS[200:300], "accepted")["learned"], 100)
        daemon.stop()
        self.assertEqual(self.file.read_bytes(), content)
        daemon.start()
        self.assertEqual(daemon.stats("chat")["pairs"], 7)
        self.assert_durable(daemon, PAIRS[:100])


    def test_a_state_that_was_removed_and_then_replaced_is_left_alone(self):
        other = self.daemon({"chat": QUIET}, state=self.folder / "other" / "other.db")
        other.own.learn([[pair["x"], pair["y"]] for pair in PAIRS[:30]], 1)
        self.assertEqual(other.stop(), 0)
        daemon = self.faulty()
        self.assert_durable(daemon, PAIRS[:100])
        for ending in ("", "-wal", "-shm"):
            self.beside(ending).unlink()
        self.assert_refused(daemon, PAIRS[100:110])
        os.replace(self.folder / "other" / "other.db", self.file)
        # It tries again after a second, and must not take this for its own.
        soon = time.monotonic() + 2
        while time.monotonic() < soon:
            self.assert_refused(daemon, PAIRS[100:110])
        daemon.kill()
        daemon.start()
        stats = daemon.stats("chat")
        self.assertEqual((stats["pairs"], stats["lost"]), (30, 0))


class Start(WithState):
    def assert_does_not_start(self, daemon, *words):
        said = daemon.refuses()
        for word in (str(self.file), *words):
            self.assertIn(word, said)

    def ended(self):
        daemon = self.faulty()
        self.assert_durable(daemon, PAIRS[:10])
        self.assertEqual(daemon.stop(), 0)
        return daemon

    def test_a_second_daemon_is_kept_out(self):
        daemon = self.faulty()
        self.assert_durable(daemon, PAIRS[:10])
        second = self.daemon({"chat": QUIET}, state=self.file, waits=False)
        self.assertEqual(second.wait(), 1)
        self.assertIn(str(self.file), second.log())
        self.assertIn("in use", second.log())
        self.assert_durable(daemon, PAIRS[:20])
        daemon.kill()
        second.start()  # a lock dies with its owner
        self.assert_has(second, PAIRS[:20])

    def test_a_state_that_can_only_be_read_is_refused(self):
        daemon = self.ended()
        self.fault("EROFS")
        self.assert_does_not_start(daemon)
        self.fault("")
        daemon.start()
        self.assert_has(daemon, PAIRS[:10])

    def test_a_state_in_a_folder_that_is_not_there_is_refused(self):
        daemon = self.ended()
        shutil.rmtree(self.file.parent)
        self.assert_does_not_start(daemon)
        self.assertFalse(self.file.parent.exists())

    def test_a_state_that_is_a_folder_is_refused(self):
        daemon = self.ended()
        for file in self.file.parent.iterdir():
            file.unlink()
        self.file.mkdir()
        self.assert_does_not_start(daemon)


class Clock(WithState):
    def test_a_clock_that_jumps_backwards_is_not_noticed(self):
        # If time ran backwards with it, new pairs would count nothing beside the old ones.
        daemon = self.faulty({"chat": {**QUIET, "half-life": "1h"}})
        for jump in ("", "CLOCK -86400", "CLOCK -172800", ""):
            self.fault(jump)
            daemon.own.learn([[pair["x"], pair["y"]] for pair in PAIRS])
            scores = self.scores(daemon)
        stats = daemon.stats("chat")
        self.assertGreater(stats["effective_pairs"], 4 * len(PAIRS) - 10)
        daemon.settle()
        daemon.kill()
        self.fault("CLOCK -259200")
        daemon.start()
        self.assertEqual(daemon.stats("chat")["effective_pairs"], stats["effective_pairs"])
        self.assertEqual(daemon.ask("score", pairs=PROBES)["scores"], scores)

    def test_snapshots_come_by_themselves_after_the_clock_has_jumped(self):
        daemon = self.faulty(snapshot_after="1s")
        self.fault("CLOCK -86400")
        self.assert_durable(daemon, PAIRS[:10])
        daemon.until(lambda: daemon.stats("chat")["snapshots"] > 0)


class Encoder(WithGate):
    def test_all_that_is_durable_is_there_after_an_encoder_has_crashed(self):
        daemon = self.gated({"s": GATED}, state=True)
        client = daemon.client()
        for number in range(50):
            client.send({"op": "learn", "id": number, "promise": "durable",
                         "pairs": [{"x": f"a{number}", "y": "b", "id": number}]})
        durable = {client.receive()["id"] for _ in range(30)}
        client.send({"op": "score", "pairs": [["crash", "b"]]})
        self.assertNotEqual(daemon.wait(), 0)
        while client.socket.poll(0):
            durable.add(client.receive()["id"])
        daemon.start()
        found = daemon.stats("s")["pairs"]
        self.assertGreaterEqual(found, len(durable))
        answer = daemon.ask("learn", promise="durable", pairs=[
            {"x": f"a{number}", "y": "b", "id": number} for number in durable])
        self.assertEqual((answer["learned"], answer["duplicates"]), (0, len(durable)))

    def test_a_durable_request_that_the_encoder_fails_on_may_be_tried_again(self):
        # The address sanitizer would rather end than be out of memory.
        daemon = self.gated({"s": GATED}, state=True,
                            env={"ASAN_OPTIONS": SANITIZER + ":allocator_may_return_null=1"})
        for number, (word, said) in enumerate((("fail", "accelerator"), ("hoard", "memory"))):
            pairs = [{"x": "a", "y": "b", "id": f"a{number}"},
                     {"x": word, "y": "b", "id": f"b{number}"}]
            answer = daemon.own.raw({"op": "learn", "pairs": pairs, "promise": "durable"})
            self.assertEqual(answer["error"]["code"], "failed")
            self.assertIn(said, answer["error"]["message"])
            self.assertEqual(daemon.stats("s")["pairs"], 2 * number)
            pairs[1]["x"] = "c"
            answer = daemon.ask("learn", pairs=pairs, promise="durable")
            self.assertEqual((answer["learned"], answer["durable"]), (2, True))
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.stats("s")["pairs"], 4)

    def test_pairs_that_the_encoder_fails_on_at_the_start_are_not_given_up(self):
        daemon = self.gated({"s": GATED}, state=True)
        daemon.own.learn([[word, "b"] for word in ("a", "shy", "c")], 1)
        daemon.kill()
        self.gate.touch()
        said = daemon.refuses()
        for word in (str(daemon.state), "entry 2", "accelerator", "--fresh"):
            self.assertIn(word, said)
        self.gate.unlink()
        daemon.start()
        stats = daemon.stats("s")
        self.assertEqual((stats["pairs"], stats["lost"]), (3, 0))
        self.assertEqual(list(daemon.state.parent.glob("*.old-*")), [])


class Memory(WithGate):
    """An encoder whose vectors are long: little is asked for, and much memory needed for it."""

    dimension = 32768
    # BATCH takes 32 MiB on each side, which come from the system whatever else was freed.
    ROOM = 8 << 20
    BATCH = [{"x": f"{number} a", "y": f"b {number}", "id": number} for number in range(256)]

    def setUp(self):
        super().setUp()
        self.d = self.gated({"s": {"encoder": "gated", "kernel": "gaussian:sigma=1", "pivots": 16,
                                   "reservoir": 64, "held-back": 10, "estimator": "phsic",
                                   "refresh": 10**6, "refresh-after": "never"}}, state=True)
        # Buffers to encode in are kept, so that it is not the encoder that fails.
        self.d.ask("score", pairs=[[pair["x"], pair["y"]] for pair in self.BATCH])

    def limit(self, room):
        """Memory that it may still take; None: as much as there is."""
        size = int(re.search(r"VmSize:\s*(\d+) kB", Path(
            f"/proc/{self.d.process.pid}/status").read_text())[1]) << 10
        if size > 1 << 40:
            self.skipTest("a sanitizer has taken all addresses")
        resource.prlimit(self.d.process.pid, resource.RLIMIT_AS,
                         (resource.RLIM_INFINITY if room is None else size + room,
                          resource.RLIM_INFINITY))

    def assert_fails(self, code, **request):
        answer = self.d.own.raw(request)
        self.assertIs(answer["ok"], False, answer)
        self.assertEqual(answer["error"]["code"], code)
        self.assertIn("memory", answer["error"]["message"])

    def test_pairs_that_there_is_no_memory_to_learn_are_refused_and_may_come_again(self):
        self.limit(self.ROOM)
        for _ in range(3):
            self.assert_fails("failed", op="learn", pairs=self.BATCH, promise="durable")
        stats = self.d.stats("s")
        self.assertEqual((stats["pairs"], stats["unlearned"], stats["unlearned_bytes"]), (0, 0, 0))
        self.limit(None)
        answer = self.d.ask("learn", pairs=self.BATCH, promise="durable")
        self.assertEqual((answer["learned"], "duplicates" in answer), (256, False))
        self.assertEqual(self.d.stats("s")["pairs"], 256)

    def test_a_model_or_a_snapshot_that_there_is_no_memory_for_leaves_the_stream_at_work(self):
        self.d.ask("learn", pairs=self.BATCH, wait=True)
        model = self.d.ask("refresh")["model"]
        subscriber = Subscriber(self.d, "s")
        self.limit(self.ROOM)
        self.assert_fails("failed", op="refresh")
        self.assert_fails("not_durable", op="snapshot")
        self.limit(None)
        said = [message["message"] for topic, message in subscriber.catch_up() if topic == "event"]
        self.assertIn("no model was built: there is not enough memory", said)
        self.assertEqual(self.d.stats("s")["model"], model)
        self.assertEqual(self.d.ask("refresh")["model"], model + 1)
        self.assertEqual(self.d.ask("snapshot")["pairs"], 256)
        # The journal knows of the model that was not built.
        scores = self.d.ask("score", pairs=[["5 a", "b 5"], ["5 a", "b 6"]])["scores"]
        self.d.settle()
        self.d.kill()
        self.d.start()
        self.assertEqual(self.d.stats("s")["pairs"], 256)
        self.assertEqual(self.d.ask("score", pairs=[["5 a", "b 5"], ["5 a", "b 6"]])["scores"],
                         scores)


if __name__ == "__main__":
    unittest.main()
