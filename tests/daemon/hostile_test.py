"""Whatever is sent to it, the daemon serves as before, and does not grow."""

import json
import random
import resource
import socket
import struct
import unittest
from pathlib import Path

import zmq
from phsicd import CONTEXT, SMALL, Case, Subscriber, floats, pairs_of

PAIRS = pairs_of(400, 11)
VECTORS = {"encoder": "vectors:dim=4", "refresh-after": "never"}
MIB = 1 << 20


def is_right(op, member, value):
    """Whether a request with that member could be served."""
    if member == "stream":
        return isinstance(value, str) and (op in ("ping", "streams") or (op, value) == ("stats", ""))
    if member == "id":
        return op in ("stats", "refresh", "ping", "streams") and value in (-1, "", "text")
    if member == "pairs":
        return op in ("score", "learn", "score-and-learn") and value == []
    return value is True and (op, member) in (("refresh", "all"), ("stats", "calibration"))


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def bad_headers(rng):
    """Texts that are no request, or one that cannot be served."""
    nested = b"[" * 5000 + b"]" * 5000
    yield from (b"", b" ", b"{", b"}", b"null", b"\0", b"\xff\xfe", b'{"op"', b'{"op":"ping",}',
                b'{"op":"ping"}{"op":"ping"}', b'{"op":"ping"} garbage', b"[" * 100000, nested,
                b'{"a":' * 5000 + b"1" + b"}" * 5000,
                b'{"op":"score","stream":"chat","pairs":' + nested + b"}",
                b'{"op":"score","stream":"chat","pairs":[["\xed\xa0\x80","\xc0\xaf"]]}',
                b'{"op":"score","stream":"chat","pairs":[["\\ud800","b"]]}',
                b'{"op":"explain","stream":"chat","pairs":[["a","b"]],"top":1e400}',
                b'{"op":"explain","stream":"chat","pairs":[["a","b"]],"top":' + b"9" * 4000 + b"}",
                b'{"op":"score","stream":"chat","pairs":[{"x":"a","y":"b","time":1e999}]}',
                b'{"op":"score","stream":"chat","pairs":[{"x":"a","y":"b","time":NaN}]}',
                b'{"op":"score","stream":"' + b"s" * 100000 + b'","pairs":[]}',
                b'{"op":"' + b"o" * 100000 + b'"}', b'{"op":"ping","id":"' + b"i" * 100000 + b'"}')
    kinds = [None, True, -1, 2**70, 1.5, "", "text", [], {}, [[]], [{}], [None], [["a"]], {"x": 1}]
    for op in ("score", "learn", "score-and-learn", "rank", "explain", "stats", "refresh",
               "ping", "streams", "", None, 7):
        for member in ("stream", "id", "pairs", "x", "y", "candidates", "wait", "learn", "all",
                       "top", "calibration", "more"):
            value = rng.choice(kinds)
            if not is_right(op, member, value):
                yield json.dumps({"op": op, "stream": "chat", member: value}).encode()
    whole = json.dumps({"op": "score", "stream": "chat", "id": 1, "pairs": PAIRS[:5]}).encode()
    for _ in range(100):
        text = bytearray(whole[:rng.randrange(len(whole) + 1)])
        for _ in range(rng.randrange(4)):
            if text:
                text[rng.randrange(len(text))] = rng.randrange(256)
        if not is_json(bytes(text)):
            yield bytes(text)
    for _ in range(100):
        yield rng.randbytes(rng.randrange(200))


def vectors(rows, dim, values, op="score"):
    shape = {"rows": rows, "dim": dim}
    header = json.dumps({"op": op, "stream": "v", "x": shape, "y": shape}).encode()
    return [header, values, values]


def bad_messages(rng):
    """Lists of frames, of which none can be served."""
    for header in bad_headers(rng):
        yield [header]
        yield [header] + [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(4))]
    yield [b"{}"] * 1000
    yield [b""] * 100
    yield [b'{"op":"ping"}'] * 17
    for rows, dim in ((2, 4), (4, 2), (0, 4), (2**31, 4), (2**32 - 1, 32768), (1, 1)):
        for size in (0, 1, 31, 32, 33):
            if dim != 4 or size != 4 * rows * dim:
                yield vectors(rows, dim, rng.randbytes(size))


def odd_messages(rng):
    """Lists of frames that can be served, but for single pairs."""
    yield vectors(2, 4, rng.randbytes(32))
    yield vectors(0, 4, b"")
    nan, infinite = float("nan"), float("inf")
    bad = floats([[nan, infinite, -infinite, 3e38], [1e-45, -0.0, 3.4e38, nan]])
    for op in ("score", "learn", "score-and-learn"):
        yield vectors(2, 4, bad, op)


class Zmtp:
    """A connection that speaks ZMTP 3.0 as it likes, by hand."""

    def __init__(self, case, endpoint, kind, name=b""):
        if endpoint.startswith("tcp://"):
            host, port = endpoint.removeprefix("tcp://").split(":")
            self.raw = socket.create_connection((host, int(port)))
        else:
            self.raw = socket.socket(socket.AF_UNIX)
            self.raw.connect(endpoint.removeprefix("ipc://"))
        case.addCleanup(self.raw.close)
        self.raw.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16 + 1 + 31))
        ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind.encode()
        if name:
            ready += b"\x08Identity" + struct.pack(">I", len(name)) + name
        self.frame(ready, flags=4)
        # The daemon's greeting and its READY: the connection is made.
        received = b""
        while b"READY" not in received:
            if not (more := self.raw.recv(1000)):
                raise ConnectionError("it hung up")
            received += more

    def frame(self, body, flags=0):
        self.raw.sendall(struct.pack(">BQ", flags | 2, len(body)) + body)

    def is_cut_by(self, body, flags=0, most=1000):
        """Sends the frame again and again. False: the connection stays."""
        try:
            for _ in range(most):
                self.frame(body, flags)
            self.raw.shutdown(socket.SHUT_WR)  # sends no more, and still reads
        except OSError:
            return True
        return False


class Hostile(Case):
    def setUp(self):
        self.d = self.daemon({"chat": SMALL, "v": VECTORS}, tcp=True, message_bytes="256KiB")
        self.d.own.learn(PAIRS, stream="chat")
        self.d.ask("refresh", stream="chat", all=True)
        self.before = self.scores()
        self.tcp = self.d.endpoints["service"][1]

    def scores(self):
        """The scores, once there is room for the request: others may have left many."""
        def found():
            answer = self.d.own.raw({"op": "score", "stream": "chat", "pairs": PAIRS[:50]})
            if not answer["ok"] and answer["error"]["code"] == "overloaded":
                return None
            return answer["scores"]
        return self.d.until(found)

    def assert_serves_as_before(self):
        self.assertEqual(self.scores(), self.before)
        self.assertIsNone(self.d.process.poll())

    def connection(self):
        host, port = self.tcp.removeprefix("tcp://").split(":")
        raw = socket.create_connection((host, int(port)))
        self.addCleanup(raw.close)
        return raw

    def test_every_bad_request_is_refused_exactly_once(self):
        client = self.d.client()
        before = self.d.stats()["bad_requests"]
        sent = 0
        for frames in bad_messages(random.Random(1)):
            client.socket.send_multipart(frames)
            sent += 1
        for number in range(sent):
            answer = client.receive()
            self.assertFalse(answer["ok"], (number, answer))
            self.assertTrue(answer["error"]["code"] and answer["error"]["message"])
        self.assertEqual(self.d.stats()["bad_requests"], before + sent)
        self.assert_serves_as_before()
        self.assertFalse(client.socket.poll(0))

    def test_odd_vectors_are_answered_pair_by_pair(self):
        client = self.d.client()
        for frames in odd_messages(random.Random(1)):
            answer = client.raw(*frames)
            self.assertTrue(answer["ok"], answer)
            bad = {problem["pair"] for problem in answer.get("problems", [])}
            for pair, score in enumerate(answer.get("scores", [])):
                self.assertEqual(score is None, pair in bad)
        self.assert_serves_as_before()

    def test_bad_messages_are_counted_and_logged_and_do_not_stop_ingest(self):
        push = self.d.push()
        bad = [b"", b"{", b"\xff", b'{"x":1,"y":2}', b'{"stream":"none","x":"a","y":"b"}',
               b'{"x":"a","y":"b"}', b'{"stream":"chat","x":"a"}',
               b'{"stream":"chat","pairs":{}}', b'{"stream":"chat","x":"a","y":"b","z":"c"}',
               b"[" * 10000, b'{"stream":"chat","pairs":[["a","b"]],"x":"a"}']
        before = self.d.stats()
        for text in bad:
            push.send(text)
        push.send_multipart([b'{"stream":"chat","x":"a","y":"b"}', b"more"])
        push.send_json({"stream": "v", "x": "1 2 3 4", "y": "4 3 2 1"})
        after = self.d.until(lambda: (s := self.d.stats())["messages"] ==
                             before["messages"] + len(bad) + 2 and s)
        self.assertEqual(after["bad_messages"], before["bad_messages"] + len(bad) + 1)
        self.d.until(lambda: self.d.stats("v")["pairs"] == 1)
        self.assertIn("bad message", self.d.log())
        self.assert_serves_as_before()

    def test_rubbish_of_every_kind_does_not_stop_ingest(self):
        push = self.d.push()
        sent = 0
        for frames in bad_messages(random.Random(2)):
            if len(frames[0]) and not frames[0].startswith(b'{"op":"l'):
                push.send_multipart(frames)
                sent += 1
        self.d.until(lambda: self.d.stats()["messages"] == sent)
        push.send_json({"stream": "v", "x": "1 2 3 4", "y": "4 3 2 1"})
        self.d.until(lambda: self.d.stats()["messages"] == sent + 1)
        self.assertEqual(len(self.scores()), 50)

    def test_rubbish_at_the_feed_does_not_stop_it(self):
        rude = CONTEXT.socket(zmq.XSUB)
        self.addCleanup(rude.close, 0)
        rude.connect(self.d.feed)
        rng = random.Random(3)
        for _ in range(300):
            rude.send_multipart([rng.randbytes(rng.randrange(50))
                                 for _ in range(rng.randint(1, 3))])
        for number in range(2000):
            rude.send(b"\1" + str(number).encode())
        rude.send(b"\1" + b"t" * 100000)
        subscriber = Subscriber(self.d)
        self.d.ask("score", stream="chat", pairs=[{"x": "a", "y": "b", "id": "through"}])
        self.assertEqual([m["id"] for _, m in subscriber.catch_up() if "id" in m], ["through"])
        self.assert_serves_as_before()

    def test_a_peer_that_sends_too_large_a_message_is_disconnected_and_no_other(self):
        for size in (MIB, 100 * MIB):
            client = self.d.client(endpoint=self.tcp)
            monitor = client.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            client.send(b'{"op":"ping"}')
            client.receive()
            client.send(b"x" * size)
            self.assertTrue(monitor.poll(100000), "it stayed connected")
            client.socket.disable_monitor()
            monitor.close()
            client.close()
            push = self.d.push()
            push.linger = 0
            push.send(b"x" * size)
            self.assert_serves_as_before()
        self.assertLess(self.d.stats()["memory"], 600 * MIB)

    def test_a_message_that_is_too_large_is_refused_and_the_next_one_served(self):
        large = b'{"op":"ping","id":"' + b"x" * 300000 + b'"}'
        for endpoint in (self.d.service, self.tcp):
            client = self.d.client(endpoint=endpoint)
            answer = client.raw(large)
            self.assertEqual(answer["error"]["code"], "too_large")
            self.assertIn("262144", answer["error"]["message"])
            client.ask("ping")
        self.assertEqual(self.d.stats()["bad_requests"], 2)
        self.assertRegex(self.d.log(), "message too large peer=127.0.0.1 bytes=3000")
        self.d.push().send_json({"stream": "chat", "x": "x" * 300000, "y": "b"})
        after = self.d.until(lambda: (s := self.d.stats())["messages"] == 1 and s)
        self.assertEqual(after["bad_messages"], 1)
        self.assertRegex(self.d.log(), "bad message .*expected 262144 or fewer")
        self.assertEqual(self.d.stats()["closed"], 0)

    def test_answers_that_nobody_reads_are_bounded_in_bytes(self):
        # An error that repeats what was asked: many bytes for little work.
        name = "s" * 200000
        request = json.dumps({"op": "score", "stream": name, "pairs": []}).encode()
        before = self.d.stats()["memory"]
        for endpoint in (self.d.service, self.tcp) * 3:
            peer = Zmtp(self, endpoint, "DEALER")
            for _ in range(200):
                peer.frame(request)
        # Clients that read are served, and those that do not are disconnected.
        self.assertIn(name, self.d.own.raw(request)["error"]["message"])
        self.d.until(lambda: self.d.stats()["closed"] > 0)
        self.assertLess(self.d.peak(), before + 150 * MIB)
        self.d.until(lambda: self.d.stats()["memory"] < before + 100 * MIB)
        self.assert_serves_as_before()

    def test_a_message_that_there_is_no_memory_for_is_refused(self):
        daemon = self.daemon({"v": {"encoder": "vectors:dim=1000", "refresh-after": "never"}},
                             message_bytes="64MiB")
        status = Path(f"/proc/{daemon.process.pid}/status").read_text()
        size = 1024 * int(status.partition("VmSize:")[2].split()[0])
        if size > 1 << 40:
            self.skipTest("the address sanitizer takes all addresses")
        # Enough for the two frames, and not for what is read from them.
        header, values, _ = vectors(10000, 1000, bytes(40 * 10**6))
        unlimited = resource.prlimit(daemon.process.pid, resource.RLIMIT_AS)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_AS,
                         (size + 110 * 10**6, unlimited[1]))
        message = json.loads(header)
        del message["op"]
        daemon.push().send_multipart([json.dumps(message).encode(), values, values])
        daemon.until(lambda: daemon.stats()["bad_messages"] == 1)
        self.assertEqual(daemon.own.error(header, values, values), "failed")
        resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, unlimited)
        self.assertEqual(len(daemon.ask("score", pairs=[])["scores"]), 0)

    def test_a_message_without_an_end_ends_its_connection(self):
        more = 1
        for kind, endpoints in (("DEALER", (self.d.service, self.tcp)), ("PUSH", (self.d.ingest,)),
                                ("SUB", (self.d.feed,))):
            for endpoint in endpoints:
                for body, most in ((b"x" * 200000, 1000), (b"x" * 1000, 50000), (b"", 400000)):
                    peer = Zmtp(self, endpoint, kind)
                    self.assertTrue(peer.is_cut_by(body, more, most), (endpoint, len(body)))
        self.assertLess(self.d.peak(), 400 * MIB)
        self.assertEqual(self.d.stats()["closed"], 12)
        self.assertIn("connection closed", self.d.log())
        self.assert_serves_as_before()

    def test_heartbeats_are_no_part_of_a_message(self):
        peer = Zmtp(self, self.tcp, "DEALER")
        peer.frame(b'{"op":', flags=1)
        self.assertFalse(peer.is_cut_by(b"\4PONG" + bytes(16), 4, 200000))
        self.assertEqual(self.d.stats()["closed"], 0)

    def test_a_subscriber_that_goes_on_subscribing_is_disconnected(self):
        subscriber = Subscriber(self.d)
        for body in (b"\1" + b"t" * 200000, b"\1" + b"t" * 900, b"\1t"):
            self.assertTrue(Zmtp(self, self.d.feed, "SUB").is_cut_by(body, 0, 20000), len(body))
        self.d.ask("score", stream="chat", pairs=[{"x": "a", "y": "b", "id": "through"}])
        self.assertEqual([m["id"] for _, m in subscriber.catch_up() if "id" in m], ["through"])
        self.assertLess(self.d.peak(), 400 * MIB)

    def test_connections_that_do_not_speak_zeromq_harm_nobody(self):
        rng = random.Random(4)
        silent = [self.connection() for _ in range(20)]
        for _ in range(50):
            raw = self.connection()
            try:
                raw.sendall(rng.randbytes(rng.randrange(1, 3000)))
            except OSError:
                pass  # it hung up meanwhile
            if rng.random() < 0.5:
                # Hang up with a reset.
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                raw.close()
        http = self.connection()
        http.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16 + 1 + 31)
        begun = self.connection()
        begun.sendall(greeting[:20])
        greeted = self.connection()
        greeted.sendall(greeting)
        # READY, then a frame that claims to have 2^63 bytes.
        ready = b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
        greeted.sendall(b"\x04" + bytes([len(ready)]) + ready + b"\x02" + b"\x7f" + b"\xff" * 7)
        self.assert_serves_as_before()
        self.assertEqual(len(self.d.client(endpoint=self.tcp).ask(
            "score", stream="chat", pairs=[PAIRS[0]])["scores"]), 1)
        for raw in silent:
            raw.close()

    def test_a_ping_behind_messages_that_are_not_read_does_no_harm(self):
        for endpoint, kind in ((self.d.service, "DEALER"), (self.tcp, "DEALER"),
                               (self.d.ingest, "PUSH")):
            for _ in range(20):
                peer = Zmtp(self, endpoint, kind)
                peer.raw.sendall((b"\0\1x" * 70 + b"\4\7\4PING\0\0") * 37)
                if endpoint == self.tcp:
                    peer.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        struct.pack("ii", 1, 0))
                peer.raw.close()
        self.assert_serves_as_before()

    def test_pings_are_answered(self):
        peer = Zmtp(self, self.d.service, "DEALER")
        peer.raw.sendall(b"\0\x0d{\"op\":\"ping\"}\4\x0b\4PING\0\0ctxt")
        received = b""
        while b"PONGctxt" not in received or b'"ok":true' not in received:
            received += peer.raw.recv(10_000)

    def test_no_peer_takes_a_name_that_zeromq_gives(self):
        for number in range(20):
            with self.assertRaises(OSError):
                peer = Zmtp(self, self.d.service, "DEALER", b"\0" + bytes([1, 2, 3, number]))
                while peer.raw.recv(1000):
                    pass
                raise ConnectionError("it hung up")
        self.assert_serves_as_before()

    def test_more_connections_than_descriptors_are_turned_away(self):
        daemon = self.daemon()
        most = len(list(Path(f"/proc/{daemon.process.pid}/fd").iterdir())) + 20
        resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (most, most))
        held = []
        for _ in range(100):
            raw = socket.socket(socket.AF_UNIX)
            self.addCleanup(raw.close)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 5, 0))
            raw.connect(daemon.service.removeprefix("ipc://"))
            held.append(raw)
        daemon.until(lambda: "connections refused" in daemon.log())
        for raw in held:
            raw.close()
        self.assertTrue(daemon.client().ask("ping")["ok"])

    def test_clients_that_vanish_harm_nobody(self):
        for endpoint in (self.d.service, self.tcp):
            for _ in range(40):
                client = self.d.client(endpoint=endpoint)
                client.send({"op": "ping"})
                client.receive()  # connected
                for _ in range(20):
                    client.send({"op": "score", "stream": "chat", "pairs": PAIRS[:20]})
                client.close()
        self.assert_serves_as_before()

    def test_a_flood_that_is_not_read_costs_the_flooder_only(self):
        flooder = self.d.client(endpoint=self.tcp, rcvhwm=1)
        # Answers of some 20 kB each: more than all buffers on the way hold.
        flood = json.dumps({"op": "stats", "stream": "chat", "calibration": True}).encode()
        self.assertGreater(len(json.dumps(self.d.own.raw(flood))), 5000)
        for _ in range(6000):
            flooder.socket.send(flood)
        self.d.until(lambda: self.d.stats()["lost_replies"] > 0)
        self.assert_serves_as_before()
        self.assertLess(self.d.stats()["memory"], 600 * MIB)
        self.d.until(lambda: self.d.stats()["requests"] > 6000)
        flooder.close()

        def is_settled():
            # Each was answered, or counted as lost; but for the one that asks.
            now = self.d.stats()
            return now["requests"] == now["replies"] + now["lost_replies"] + 1

        self.d.until(is_settled)

    def test_memory_does_not_grow_from_round_to_round(self):
        def round_of_everything(seed):
            rng = random.Random(seed)
            client = self.d.client()
            push = self.d.push()
            sent = 0
            for frames in [*bad_messages(rng), *odd_messages(rng)]:
                client.socket.send_multipart(frames)
                sent += 1
                if frames[0].startswith(b"{"):
                    push.send_multipart(frames)
            for _ in range(sent):
                client.receive()
            client.close()
            push.close()
            for _ in range(30):
                gone = self.d.client(endpoint=self.tcp)
                gone.send({"op": "ping"})
                gone.receive()  # connected
                gone.send({"op": "score", "stream": "chat", "pairs": PAIRS})
                gone.send(b"x" * MIB)
                gone.close()
            return self.d.stats()["memory"]

        first = max(round_of_everything(seed) for seed in range(4))
        last = [round_of_everything(seed) for seed in range(4, 10)][-1]
        self.assertLess(last, first + 32 * MIB)
        self.assertEqual(len(self.scores()), 50)


if __name__ == "__main__":
    unittest.main()
