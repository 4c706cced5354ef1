"""Start, reload, drain and end, and streams that do not hold each other up."""

import json
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from gated import GATED, WithGate
from phsicd import PATIENCE, PHSICD, SMALL, SOURCE, Case, Subscriber, pairs_of

PAIRS = pairs_of(600, 31)


class Drain(WithGate):
    def assert_drains(self, ending):
        daemon = self.gated({"s": {**GATED, "workers": 2}}, drain="200s")
        client = daemon.client()
        requests = [{"op": "score", "pairs": [["wait", "b"]]}] * 20
        requests += [{"op": "score-and-learn", "pairs": [["wait", "b"]], "wait": True}] * 20
        requests += [{"op": "learn", "pairs": [["wait", "b"]]}] * 20
        requests += [{"op": "rank", "x": "wait", "candidates": ["c", "d"]}, {"op": "refresh"}]
        for number, request in enumerate(requests):
            client.send({**request, "id": number})
        client.send({"op": "ping", "id": "read"})
        self.assertEqual(client.receive()["id"], "read")  # and so was all before it
        daemon.signal(ending)
        daemon.until(lambda: "draining" in daemon.log())
        self.assertEqual(daemon.own.error({"op": "score", "pairs": [["a", "b"]]}), "shutting_down")
        self.gate.touch()
        answers = [client.receive() for _ in requests]
        self.assertEqual(sorted(answer["id"] for answer in answers), list(range(len(requests))))
        self.assertTrue(all(answer["ok"] for answer in answers))
        self.assertEqual(daemon.wait(), 0)
        self.assertFalse(client.socket.poll(0))

    def test_what_was_accepted_before_sigterm_is_answered(self):
        self.assert_drains(signal.SIGTERM)

    def test_what_was_accepted_before_sigint_is_answered(self):
        self.assert_drains(signal.SIGINT)

    def test_what_was_pushed_and_read_is_published_before_the_end(self):
        daemon = self.gated({"s": GATED}, drain="200s")
        subscriber = Subscriber(daemon, "s")
        daemon.push().send_json({"pairs": [{"x": "wait", "y": "b", "id": i} for i in range(500)]})
        daemon.until(lambda: daemon.stats()["messages"] == 1)
        daemon.signal(signal.SIGTERM)
        daemon.until(lambda: "draining" in daemon.log())
        self.gate.touch()
        ids = []
        while len(ids) < 500:
            topic, message = subscriber.receive()
            if topic == "score" and isinstance(message.get("id"), int):
                ids.append(message["id"])
        self.assertEqual(ids, list(range(500)))
        self.assertEqual(daemon.wait(), 0)

    def test_a_message_that_waits_for_room_is_published_before_the_end(self):
        daemon = self.gated({"s": {**GATED, "queue-pairs": 5, "batch-pairs": 1}}, drain="200s")
        subscriber = Subscriber(daemon, "s")
        push = daemon.push()
        for number in range(50):
            push.send_json({"x": "wait", "y": "b", "id": number})
        daemon.until(lambda: daemon.stats()["stalled"] > 0)
        daemon.signal(signal.SIGTERM)
        daemon.until(lambda: "draining" in daemon.log())
        taken = daemon.stats()["messages"]
        self.gate.touch()
        self.assertEqual(daemon.wait(), 0)
        ids = []
        # The daemon is gone, so everything is on its way.
        while len(ids) < taken and subscriber.socket.poll(10000):
            topic, message = subscriber.receive()
            if topic == "score" and isinstance(message.get("id"), int):
                ids.append(message["id"])
        self.assertEqual(ids, list(range(taken)))

    def test_draining_ends_when_its_time_is_over(self):
        daemon = self.gated({"s": GATED}, drain="1s")
        client = daemon.client()
        client.send({"op": "score", "pairs": [["wait", "b"]]})
        daemon.until(lambda: daemon.stats()["requests"] > 1)
        client.send({"op": "ping"})
        client.receive()
        self.assertEqual(daemon.stop(), 1)
        self.assertIn("not drained", daemon.log())

    def test_a_flood_does_not_put_off_the_end(self):
        daemon = self.gated({"s": GATED, "chat": SMALL}, drain="200s")
        daemon.own.learn(PAIRS, stream="chat")
        daemon.ask("refresh", stream="chat")
        # So many that more has arrived at once than is still read, however slowly they send.
        waiting, *flooders = [daemon.client() for _ in range(65)]
        waiting.send({"op": "score", "stream": "s", "pairs": [["wait", "b"]]})
        # Quicker to send than to answer: all of it is there before it has been read.
        flood = json.dumps({"op": "stats", "stream": "chat", "calibration": True}).encode()
        for flooder in flooders * 250:
            flooder.send(flood)
        for flooder in flooders:
            flooder.receive()
        daemon.signal(signal.SIGTERM)
        daemon.until(lambda: "draining" in daemon.log())
        self.assertLess(daemon.stats()["requests"], 8000)
        self.gate.touch()
        self.assertTrue(waiting.receive()["ok"])
        self.assertEqual(daemon.wait(), 0)

    def test_an_idle_daemon_ends_with_status_nought(self):
        daemon = self.daemon({"a": SMALL, "b": {**SMALL, "workers": 3}})
        self.assertEqual(daemon.stop(), 0)
        self.assertIn("ended", daemon.log())


class Apart(WithGate):
    def test_a_stream_that_hangs_does_not_hold_up_another(self):
        daemon = self.gated({"slow": {**GATED, "batch-pairs": 1}, "quick": SMALL})
        slow, quick = daemon.client(), daemon.client()
        for number in range(50):
            slow.send({"op": "score", "stream": "slow", "id": number, "pairs": [["wait", "b"]]})
        quick.learn(PAIRS, stream="quick")
        self.assertEqual(quick.ask("refresh", stream="quick", all=True)["pairs"], len(PAIRS))
        self.assertEqual(len(quick.ask("score", stream="quick", pairs=PAIRS)["scores"]), 600)
        self.assertGreater(quick.ask("stats")["streams"]["slow"]["queue"], 0)
        self.assertFalse(slow.socket.poll(0))
        self.gate.touch()
        self.assertEqual(sorted(slow.receive()["id"] for _ in range(50)), list(range(50)))

    def test_a_stream_with_a_source_of_its_own_does_not_hold_up_ingest(self):
        daemon = self.gated({"slow": {**GATED, "queue-pairs": 10, "batch-pairs": 1,
                                      "ingest": f"ipc://{self.path}/own"}, "quick": SMALL})
        own, shared = daemon.push(f"ipc://{self.path}/own"), daemon.push()
        for _ in range(100):
            own.send_json({"x": "wait", "y": "b"})
        daemon.until(lambda: daemon.stats()["stalled"] > 0)
        for x, y in PAIRS:
            shared.send_json({"stream": "quick", "x": x, "y": y})
        daemon.until(lambda: daemon.stats("quick")["pairs"] == 600)
        self.gate.touch()
        daemon.until(lambda: daemon.stats("slow")["pairs"] == 100)

    def test_an_encoder_that_fails_is_told_of_and_others_serve_on(self):
        daemon = self.gated({"s": GATED, "quick": SMALL})
        subscriber = Subscriber(daemon, "s")
        client = daemon.client()
        for request in ({"op": "score", "pairs": [["a", "b"], ["fail", "b"]]},
                        {"op": "learn", "pairs": [["fail", "b"]]},
                        {"op": "learn", "pairs": [["fail", "b"]], "wait": True},
                        {"op": "score-and-learn", "pairs": [["a", "fail"]], "wait": True},
                        {"op": "rank", "x": "fail", "candidates": ["a"]},
                        {"op": "rank", "x": "a", "candidates": ["b", "fail"]}):
            answer = client.raw({**request, "stream": "s", "id": 1})
            self.assertEqual((answer["ok"], answer["id"]), (False, 1), request)
            self.assertEqual(answer["error"]["code"], "failed")
            self.assertIn("the accelerator is gone", answer["error"]["message"])
        stats = daemon.stats("s")
        self.assertEqual((stats["failed"], stats["unlearned"], stats["pairs"]), (6, 0, 0))
        events = [message for topic, message in subscriber.catch_up() if topic == "event"]
        self.assertIn("failure", [event["event"] for event in events])
        self.assertIn("the accelerator is gone", events[0]["message"])
        self.assertEqual(client.ask("score", stream="s", pairs=[["a", "b"]])["scores"], [0])
        answer = client.ask("learn", stream="s", pairs=[["a", "b"]], wait=True)
        self.assertEqual(answer["learned"], 1)
        self.assertEqual(client.ask("score", stream="quick", pairs=[["a", "b"]])["scores"], [0])

    def test_a_text_that_breaks_the_encoder_fails_only_the_request_that_has_it(self):
        daemon = self.gated({"s": GATED})
        client = daemon.client()
        # What comes while the first waits is encoded together.
        client.send({"op": "score", "id": 9, "pairs": [["wait", "b"]]})
        for number in range(9):
            x = "fail" if number == 4 else "a"
            client.send({"op": "score-and-learn", "id": number, "pairs": [[x, "b"], ["c", "d"]]})
        self.gate.touch()
        answers = [client.receive() for _ in range(10)]
        self.assertEqual([answer["id"] for answer in answers if not answer["ok"]], [4])
        self.assertEqual(sorted(answer["id"] for answer in answers), list(range(10)))
        daemon.until(lambda: daemon.stats("s")["pairs"] == 16)
        self.assertEqual(daemon.stats("s")["unlearned"], 0)

    def test_pushed_pairs_that_the_encoder_fails_on_leave_no_gap_in_the_feed(self):
        daemon = self.gated({"s": GATED})
        subscriber = Subscriber(daemon, "s")
        push = daemon.push()
        for number, x in enumerate(("a", "fail", "b")):
            push.send_json({"x": x, "y": "c", "id": number})
            daemon.until(lambda: daemon.stats()["messages"] == number + 1)
            daemon.until(lambda: daemon.stats("s")["queue"] == 0)
        scores = [message for topic, message in subscriber.catch_up() if topic == "score"]
        numbers = [message["seq"] for message in scores]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertEqual([message["id"] for message in scores], [0, 1, 2])
        self.assertEqual([message["score"] for message in scores], [0, None, 0])
        self.assertIn("the accelerator is gone", scores[1]["problem"])


class Reload(Case):
    def test_a_stream_can_be_added(self):
        daemon = self.daemon()
        daemon.own.learn(PAIRS[:300])
        before = daemon.stats("chat")
        daemon.config["streams"]["more"] = {**SMALL, "ingest": f"ipc://{daemon.folder}/more"}
        self.assertEqual(daemon.reload()["refused_reloads"], 0)
        self.assertEqual(daemon.ask("score", stream="more", pairs=[["a", "b"]])["scores"], [0])
        daemon.push(f"ipc://{daemon.folder}/more").send_json({"x": "a", "y": "b"})
        daemon.until(lambda: daemon.stats("more")["pairs"] == 1)
        subscriber = Subscriber(daemon, "more")
        daemon.push().send_json({"stream": "more", "x": "a", "y": "b", "id": "new"})
        topic, message = subscriber.receive()
        self.assertEqual((topic, message["id"]), ("score", "new"))
        for member in ("pairs", "model", "hsic"):
            self.assertEqual(daemon.stats("chat")[member], before[member])

    def test_options_of_serving_are_taken_over(self):
        daemon = self.daemon({"chat": {**SMALL, "p": 1}}, log_level="error")
        daemon.own.learn(PAIRS)
        daemon.ask("refresh")
        subscriber = Subscriber(daemon)
        random_pairs = [[x, PAIRS[(i + 7) % 600][1]] for i, (x, _) in enumerate(PAIRS)]
        daemon.ask("score", pairs=random_pairs)
        self.assertEqual(daemon.stats("chat")["flagged"], 0)
        self.assertEqual(daemon.log(), "")
        daemon.config["streams"]["chat"] |= {"p": 0.1, "feed-texts": True}
        daemon.config["log-level"] = "info"
        self.assertEqual(daemon.reload()["reloads"], 1)
        subscriber.catch_up()
        answer = daemon.ask("score", pairs=random_pairs)
        found = subscriber.catch_up()
        flags = [message for topic, message in found if topic == "flag"]
        self.assertEqual(len(flags), sum(p > 0.1 for p in answer["p_values"]))
        self.assertGreater(len(flags), 100)
        self.assertIn("x", flags[0])
        self.assertIn("reloaded", daemon.log())
        options = daemon.ask("streams")["streams"][0]["options"]
        self.assertEqual(options["p"], "0.1")

    def test_any_other_change_is_refused_and_nothing_of_it_is_taken_over(self):
        daemon = self.daemon({"chat": {**SMALL, "p": 1}, "b": SMALL})
        kept = json.dumps(daemon.config)
        for number, (change, path) in enumerate((
                ({"encoder": "hashing:dim=64"}, "streams.chat.encoder"),
                ({"half-life": 100}, "streams.chat.half-life"),
                ({"workers": 2}, "streams.chat.workers"))):
            daemon.config = json.loads(kept)
            daemon.config["streams"]["chat"] |= change | {"p": 0.5}
            daemon.config["streams"]["new"] = SMALL
            self.assertEqual(daemon.reload()["refused_reloads"], number + 1)
            self.assertIn(path, daemon.log())
            options = daemon.ask("streams")["streams"]
            self.assertEqual({stream["name"] for stream in options}, {"chat", "b"})
            chat = next(stream for stream in options if stream["name"] == "chat")
            self.assertEqual(chat["options"]["p"], "1")
        daemon.config = json.loads(kept)
        del daemon.config["streams"]["b"]
        daemon.config["feed-queue"] = 5
        self.assertEqual(daemon.reload()["refused_reloads"], 4)
        self.assertIn("streams.b", daemon.log())
        self.assertIn("feed-queue", daemon.log())
        daemon.config = json.loads(kept)
        self.assertEqual(daemon.reload()["reloads"], 1)
        self.assertEqual(daemon.ask("score", stream="b", pairs=[["a", "b"]])["scores"], [0])

    def test_a_broken_file_is_refused(self):
        daemon = self.daemon()
        good = daemon.file.read_text()
        texts = ("streams: [", "", "streams: {chat: {encodr: hashing}}", good + "\nservice: x",
                 "\0\xff", good.replace("hashing", "nowhere"))
        before = daemon.stats()["refused_reloads"]
        for number, text in enumerate(texts):
            daemon.write = lambda text=text: daemon.file.write_text(text)
            self.assertEqual(daemon.reload()["refused_reloads"], before + number + 1, text)
        self.assertIn("encodr", daemon.log())
        daemon.write = daemon.file.unlink
        self.assertEqual(daemon.reload()["refused_reloads"], before + len(texts) + 1)
        daemon.write = lambda: daemon.file.write_text(good)
        self.assertEqual(daemon.reload()["reloads"], 1)
        self.assertEqual(daemon.ask("score", pairs=[["a", "b"]])["scores"], [0])

    def test_a_new_stream_whose_encoder_does_not_open_is_refused(self):
        daemon = self.daemon()
        daemon.config["streams"]["new"] = {"encoder": "wordvec:file=/nowhere/at.all"}
        self.assertEqual(daemon.reload()["refused_reloads"], 1)
        self.assertIn("/nowhere/at.all", daemon.log())
        self.assertEqual(len(daemon.ask("streams")["streams"]), 1)


class Start(Case):
    def attempt(self, *arguments):
        return subprocess.run([PHSICD, *map(str, arguments)], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def file(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "c.yaml"
        path.write_text(text)
        return path

    def test_a_check_tells_all_errors_at_once(self):
        path = self.file("servce: tcp://127.0.0.1:1\nlog-level: loud\nstreams:\n  a:\n"
                         "    half-life: soon\n    pivots: -3\n  b b:\n")
        done = self.attempt("--check", path)
        self.assertEqual(done.returncode, 1)
        for line, what in ((1, "servce"), (2, "log-level"), (5, "half-life"), (6, "pivots"),
                           (7, "b b")):
            self.assertRegex(done.stderr, f"(?m)^{path}:{line}: .*{what}")
        done = self.attempt("--check", self.file("streams: {a: }\n"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for shipped in (SOURCE / "config").glob("*.yaml"):
            self.assertEqual(self.attempt("--check", shipped).returncode, 0)

    def test_a_port_in_use_is_named(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        endpoint = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        for key in ("service", "ingest", "feed"):
            others = [f"--set={other}=tcp://127.0.0.1:*" for other in ("service", "ingest", "feed")
                      if other != key]
            done = self.attempt(f"--set={key}={endpoint}", *others)
            self.assertEqual(done.returncode, 1)
            self.assertIn(endpoint, done.stderr)
            self.assertIn("in use", done.stderr)

    def test_a_file_where_a_socket_should_be_is_left_alone(self):
        path = self.file("precious\n")
        for key in ("service", "ingest", "feed"):
            others = [f"--set={other}=tcp://127.0.0.1:*" for other in ("service", "ingest", "feed")
                      if other != key]
            done = self.attempt(f"--set={key}=ipc://{path}", *others)
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(path), done.stderr)
            self.assertEqual(path.read_text(), "precious\n")

    def test_an_encoder_that_does_not_open_is_told_with_its_stream(self):
        path = self.file("streams: {a: {encoder: 'wordvec:file=/nowhere/at.all'}}\n")
        done = self.attempt("--config", path, "--set=service=tcp://127.0.0.1:*", "--set=ingest=",
                            "--set=feed=")
        self.assertEqual(done.returncode, 1)
        self.assertIn("streams.a: ", done.stderr)
        self.assertIn("/nowhere/at.all", done.stderr)

    def test_wrong_usage_has_a_status_of_its_own(self):
        self.assertEqual(self.attempt("--confg", "x").returncode, 2)
        self.assertEqual(self.attempt("--config", "/nowhere.yaml").returncode, 1)
        self.assertEqual(self.attempt("--help").returncode, 0)
        self.assertIn("0.", self.attempt("--version").stdout)

    def test_a_setting_counts_more_than_the_file(self):
        daemon = self.daemon(overrides=["streams.chat.half-life=123"])
        options = daemon.ask("streams")["streams"][0]["options"]
        self.assertEqual(options["half-life"], "123")
        self.assertEqual(daemon.reload()["reloads"], 1)

    def test_a_log_of_json_has_an_object_in_each_line(self):
        daemon = self.daemon(log_format="json", log_level="trace")
        daemon.own.learn(PAIRS[:300])
        daemon.push().send(b"\xff \" \n { rubbish")
        daemon.until(lambda: daemon.stats()["bad_messages"] == 1)
        daemon.config["feed-queue"] = 7
        daemon.reload()
        self.assertEqual(daemon.stop(), 0)
        lines = [json.loads(line) for line in daemon.log().splitlines()]
        for line in lines:
            self.assertLessEqual({"time", "level", "event"}, set(line))
        events = {line["event"] for line in lines}
        self.assertLessEqual({"listening", "ready", "event", "bad message", "draining", "ended"},
                             events)

    def test_a_daemon_that_was_killed_can_be_started_again_where_it_was(self):
        daemon = self.daemon()
        daemon.kill()
        again = self.daemon(service=daemon.service, ingest=daemon.ingest, feed=daemon.feed,
                            waits=False)
        again.service = daemon.service
        again.wait_until_ready()
        self.assertEqual(again.stats()["pid"], again.process.pid)


if __name__ == "__main__":
    unittest.main()
