"""The feed: every pair once, in order, and a subscriber that misses something can tell."""

import json
import tempfile
import unittest

import zmq
from phsicd import CONTEXT, SMALL, Case, Subscriber, floats, pairs_of

PAIRS = pairs_of(900, 5)


def messages(found, topic):
    return [message for name, message in found if name == topic]


class Feed(Case):
    def assert_no_gap(self, found, first=None):
        numbers = [message["seq"] for message in found]
        first = numbers[0] if first is None else first
        self.assertEqual(numbers, list(range(first, first + len(numbers))))

    def gather(self, subscriber, count, topic="score"):
        """All messages, probes left out, until `count` of the topic are there."""
        found = []
        while len(messages(found, topic)) < count:
            name, message = subscriber.receive()
            if not str(message.get("id", "")).startswith("probe-"):
                found.append((name, message))
        return found

    def stalled(self, reader):
        """A subscriber that has got something, and does not read it."""
        socket = CONTEXT.socket(zmq.SUB)
        socket.rcvhwm = 1
        socket.rcvbuf = 4096
        socket.subscribe("chat/score")
        socket.connect(reader.daemon.feed)
        self.addCleanup(socket.close, 0)
        while not socket.poll(20):
            reader.probe()
        return socket

    def test_every_pair_is_published_once_in_order_with_its_id(self):
        daemon = self.daemon()
        subscriber = Subscriber(daemon)
        push = daemon.push()
        for number in range(0, 300):
            x, y = PAIRS[number]
            push.send_json({"stream": "chat", "x": x, "y": y, "id": number, "time": 1e9 + number})
        for start in range(300, 900, 50):
            push.send_json({"pairs": [{"x": x, "y": y, "id": f"m-{start + i}"}
                                      for i, (x, y) in enumerate(PAIRS[start:start + 50])]})
        scores = messages(self.gather(subscriber, 900), "score")
        self.assertEqual([message["id"] for message in scores],
                         list(range(300)) + [f"m-{i}" for i in range(300, 900)])
        self.assert_no_gap(scores)
        self.assertEqual([message["time"] for message in scores[:300]],
                         [1e9 + number for number in range(300)])
        for message in scores:
            self.assertNotIn("x", message)
            self.assertGreaterEqual(message["delay"], 0)
        daemon.until(lambda: daemon.stats("chat")["pairs"] == 900)
        self.assertEqual(messages(subscriber.catch_up(), "score"), [])

    def test_pairs_without_an_id_have_none(self):
        daemon = self.daemon()
        subscriber = Subscriber(daemon)
        push = daemon.push()
        push.send_json({"pairs": [["a", "b"], {"x": "c", "y": "d", "id": "e"}, ["f", "g"]]})
        scores = messages(self.gather(subscriber, 3), "score")
        self.assertEqual([message.get("id") for message in scores], [None, "e", None])

    def test_texts_are_there_when_configured(self):
        daemon = self.daemon({"chat": {**SMALL, "feed-texts": True}})
        subscriber = Subscriber(daemon)
        texts = [["ein \"Fluß\"\n\\", "a\u0000\u001f😀"], ["", " "]]
        daemon.push().send_json({"pairs": texts})
        scores = messages(self.gather(subscriber, 2), "score")
        self.assertEqual([[message["x"], message["y"]] for message in scores], texts)

    def test_requests_are_published_too(self):
        daemon = self.daemon()
        subscriber = Subscriber(daemon)
        answer = daemon.ask("score-and-learn", pairs=[{"x": "a", "y": "b", "id": "r"}])
        (score,) = messages(subscriber.catch_up(), "score")
        self.assertEqual((score["id"], score["score"]), ("r", answer["scores"][0]))

    def test_pairs_that_a_random_pairing_would_beat_are_flagged(self):
        threshold = 0.2
        daemon = self.daemon({"chat": {**SMALL, "p": threshold}})
        daemon.own.learn(PAIRS)
        daemon.ask("refresh")
        subscriber = Subscriber(daemon)
        damaged = pairs_of(200, 8, 0.5)
        daemon.push().send_json({"pairs": [{"x": x, "y": y, "id": i}
                                           for i, (x, y) in enumerate(damaged)]})
        found = self.gather(subscriber, 200) + subscriber.catch_up()
        scores, flags = messages(found, "score"), messages(found, "flag")
        expected = [m["id"] for m in scores if m["p_value"] > threshold]
        self.assertEqual([message["id"] for message in flags], expected)
        self.assertTrue(20 < len(expected) < 180, len(expected))
        self.assert_no_gap(flags)
        by_id = {message["id"]: message for message in scores}
        for flag in flags:
            self.assertEqual({**flag, "seq": 0}, {**by_id[flag["id"]], "seq": 0})
        self.assertEqual(daemon.stats("chat")["flagged"], flags[-1]["seq"])

    def test_scores_and_flags_have_their_numbers_also_while_nobody_hears_them(self):
        daemon = self.daemon({"chat": {**SMALL, "p": 0.2}})
        daemon.own.learn(PAIRS)
        daemon.ask("refresh")
        damaged = pairs_of(200, 8, 0.5)
        daemon.ask("score", pairs=damaged)
        self.assertGreater(daemon.stats("chat")["flagged"], 20)
        subscriber = Subscriber(daemon)
        before = daemon.stats("chat")
        daemon.ask("score", pairs=damaged)
        found = subscriber.catch_up()
        self.assert_no_gap(messages(found, "score"), before["scored"] + 1)
        self.assert_no_gap(messages(found, "flag"), before["flagged"] + 1)

    def test_nothing_is_flagged_when_every_p_value_is_good_enough(self):
        daemon = self.daemon({"chat": {**SMALL, "p": 1}})
        daemon.own.learn(PAIRS[:600])
        daemon.ask("refresh")
        subscriber = Subscriber(daemon)
        self.assertIn("p_values", daemon.ask("score", pairs=pairs_of(100, 8, 1.0)))
        found = subscriber.catch_up()
        self.assertEqual(len(messages(found, "score")), 100)
        self.assertEqual(messages(found, "flag"), [])

    def test_refreshes_are_events(self):
        daemon = self.daemon()
        subscriber = Subscriber(daemon)
        daemon.own.learn(PAIRS)
        answer = daemon.ask("refresh")
        events = messages(subscriber.catch_up(), "event")
        self.assertEqual({event["event"] for event in events}, {"refresh"})
        self.assert_no_gap(events)
        self.assertEqual([event["model"] for event in events],
                         list(range(1, answer["model"] + 1)))
        self.assertEqual(events[-1]["pairs"], 900)
        for member in ("self_auc", "hsic", "estimator", "epoch"):
            self.assertEqual(events[-1][member], answer[member])

    def test_no_model_is_built_by_itself_that_could_not_be_measured(self):
        daemon = self.daemon({"chat": {**SMALL, "refresh": 20, "refresh-after": "0.01s"}})
        subscriber = Subscriber(daemon)
        pairs = pairs_of(400, 12)
        for start in range(0, 400, 20):
            daemon.ask("learn", pairs=pairs[start:start + 20], wait=True)
        daemon.ask("refresh")
        events = messages(subscriber.catch_up(), "event")
        self.assertGreaterEqual(events[0]["pairs"], 160)
        self.assertIn("self_auc", events[0])
        # One that is asked for is.
        other = self.daemon({"chat": SMALL})
        other.ask("learn", pairs=pairs[:20], wait=True)
        self.assertEqual(other.ask("refresh")["model_pairs"], 20)

    def test_a_pair_that_cannot_be_scored_has_a_problem(self):
        daemon = self.daemon({"v": {"encoder": "vectors:dim=1", "refresh-after": "never"}})
        subscriber = Subscriber(daemon, "v")
        push = daemon.push()
        push.send_json({"pairs": [["1", "2"], ["1", "two"], ["3", "4"]]})
        shape = {"rows": 2, "dim": 1}
        push.send_multipart([json.dumps({"x": shape, "y": shape}).encode(),
                             floats([[1], [float("nan")]]), floats([[1], [1]])])
        scores = messages(self.gather(subscriber, 5), "score")
        self.assertEqual([message["score"] is None for message in scores],
                         [False, True, False, False, True])
        self.assertEqual(["problem" in message for message in scores],
                         [False, True, False, False, True])
        daemon.until(lambda: daemon.stats("v")["pairs"] == 3)
        self.assertEqual(daemon.stats("v")["problems"], 2)

    def test_topics_are_apart(self):
        daemon = self.daemon({"a": SMALL, "b": SMALL, "a.b": SMALL})
        first, second = Subscriber(daemon, "a"), Subscriber(daemon, "b")
        push = daemon.push()
        for number in range(50):
            for stream in ("a", "b", "a.b"):
                push.send_json({"stream": stream, "x": "p", "y": "q", "id": f"{stream}{number}"})
        for subscriber in (first, second):
            found = messages(self.gather(subscriber, 50), "score")
            self.assertEqual([m["id"] for m in found],
                             [f"{subscriber.stream}{number}" for number in range(50)])

    def test_a_stream_has_a_source_of_its_own(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        own = f"ipc://{folder.name}/own"
        daemon = self.daemon({"a": {**SMALL, "ingest": own}, "b": SMALL})
        push = daemon.push(own)
        push.send_json({"x": "p", "y": "q"})
        push.send_json({"stream": "a", "x": "p", "y": "q"})
        push.send_json({"stream": "b", "x": "p", "y": "q"})
        daemon.until(lambda: daemon.stats()["messages"] == 3)
        self.assertEqual(daemon.stats()["bad_messages"], 1)
        daemon.until(lambda: daemon.stats("a")["pairs"] == 2)
        self.assertEqual(daemon.stats("b")["pairs"], 0)

    def test_a_subscriber_that_stalls_loses_messages_and_can_tell_while_the_daemon_goes_on(self):
        daemon = self.daemon({"chat": {**SMALL, "feed-texts": True, "refresh": 10**6}},
                             feed_queue=10)
        reader = Subscriber(daemon)
        stalled = self.stalled(reader)
        reader.catch_up()
        # More than all buffers on the way hold together, in steps that the reader can follow.
        long = "x" * 20000
        for step in range(60):
            daemon.ask("score", pairs=[{"x": long, "y": long, "id": f"{step}-{i}"}
                                       for i in range(5)])
            self.gather(reader, 5)
        last = reader.probe()
        numbers = []
        while True:
            # Some that were published while it stalled, then, as it reads again, new ones.
            if not stalled.poll(50):
                last = reader.probe()
                continue
            message = json.loads(stalled.recv_multipart()[1])
            numbers.append(message["seq"])
            if message.get("id") == last:
                break
        self.assertEqual(numbers, sorted(set(numbers)))
        lost = numbers[-1] - numbers[0] + 1 - len(numbers)
        self.assertGreater(lost, 0)
        self.assertEqual(len(daemon.ask("score", pairs=[["a", "b"]])["scores"]), 1)


    def test_a_subscriber_that_reads_nothing_is_got_rid_of_when_it_takes_too_much(self):
        daemon = self.daemon({"chat": {**SMALL, "feed-texts": True, "refresh": 10**6}},
                             feed_bytes="4MiB")
        reader = Subscriber(daemon)
        self.stalled(reader)
        long = "x" * 20000
        pairs = [{"x": long, "y": long}] * 10
        daemon.until(lambda: daemon.ask("score", pairs=pairs) and daemon.stats()["closed"] == 1)
        self.assertIn("does not read", daemon.log())
        # A subscriber that reads goes on, once there is room again.
        daemon.until(lambda: daemon.ask("score", pairs=[{"x": "a", "y": "b", "id": "last"}])
                     and reader.socket.poll(0))
        while reader.receive()[1].get("id") != "last":
            pass

    def test_nothing_is_published_for_a_subscriber_that_has_left(self):
        daemon = self.daemon()
        socket = CONTEXT.socket(zmq.SUB)
        self.addCleanup(socket.close, 0)
        topics = [f"other/{number}" for number in range(1200)] + ["chat/"]
        for topic in topics:
            socket.subscribe(topic)
        socket.connect(daemon.feed)
        while not socket.poll(20):
            daemon.ask("score", pairs=[["a", "b"]])
        for topic in topics:
            socket.unsubscribe(topic)

        def is_silent():
            before = daemon.stats()["published"]
            daemon.ask("score", pairs=[["a", "b"]])
            return daemon.stats()["published"] == before

        daemon.until(is_silent)


class Subscribe(Case):
    def test_a_daemon_takes_the_feed_of_another_as_it_is(self):
        source = self.daemon({"chat": {**SMALL, "feed-texts": True}})
        taker = self.daemon({"mirror": {**SMALL, "feed-texts": True}}, subscribe=[
            {"endpoint": source.feed, "topic": "chat/score", "stream": "mirror"}])
        subscriber = Subscriber(taker, "mirror")
        # The subscription is in force when something has come through.
        while taker.stats()["messages"] == 0:
            source.ask("score", pairs=[["before", "all"]])
        source.push().send_json({"pairs": [{"x": x, "y": y, "id": i}
                                           for i, (x, y) in enumerate(PAIRS[:200])]})
        scores = []
        while len(scores) < 200:
            topic, message = subscriber.receive()
            if topic == "score" and isinstance(message.get("id"), int):
                scores.append(message)
        self.assertEqual([message["id"] for message in scores], list(range(200)))
        self.assertEqual([[message["x"], message["y"]] for message in scores], PAIRS[:200])
        self.assertEqual(taker.stats()["bad_messages"], 0)

    def test_of_another_daemons_feed_every_pair_is_learned_once(self):
        source = self.daemon({"chat": {**SMALL, "feed-texts": True, "p": 0.2}})
        source.own.learn(PAIRS)
        source.ask("refresh")
        # All of it, or flags alone.
        taker = self.daemon({"all": SMALL, "flags": SMALL}, subscribe=[
            {"endpoint": source.feed, "topic": "chat/", "stream": "all"},
            {"endpoint": source.feed, "topic": "chat/flag", "stream": "flags"}])
        while 0 in (taker.stats("all")["pairs"], taker.stats("flags")["pairs"]):
            source.ask("score", pairs=pairs_of(20, 9, 1.0))
        source.ask("refresh")  # an event
        source.ask("score", pairs=pairs_of(200, 8, 0.5))

        def has_taken():
            sent = source.stats("chat")
            taken = taker.stats()
            return taken["messages"] >= sent["flagged"] and taken["passed_over"] > 0

        taker.until(has_taken)
        last = {"x": "the", "y": "end", "id": "last"}
        listener = Subscriber(taker, "all")
        source.ask("score", pairs=[last])
        while listener.receive()[1].get("id") != "last":
            pass
        learned, flagged = taker.stats("all"), taker.stats("flags")
        numbers = taker.stats()
        self.assertEqual(numbers["bad_messages"], 0, taker.log())
        self.assertEqual(numbers["messages"] - numbers["passed_over"],
                         learned["scored"] - self.probes(listener) + flagged["scored"])
        self.assertGreater(flagged["scored"], 0)
        self.assertGreaterEqual(numbers["passed_over"], flagged["scored"])

    @staticmethod
    def probes(subscriber):
        return next(subscriber.probes)

    def test_two_daemons_that_take_each_others_feeds_learn_a_pair_once(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        feeds = [f"ipc://{folder.name}/{name}" for name in "ab"]
        texts = {"chat": {**SMALL, "feed-texts": True}}
        first, second = (
            self.daemon(texts, feed=own, subscribe=[
                {"endpoint": other, "topic": "chat/score", "stream": "chat"}])
            for own, other in (feeds, feeds[::-1]))
        # Both subscriptions are in force when something has come through.
        sent = 0
        for one, other in ((first, second), (second, first)):
            while other.stats()["messages"] == 0:
                one.ask("score", pairs=[["before", "all"]])
                sent += 1
        before = first.stats()["passed_over"]
        pushing = first.push()
        for i in range(5):
            pushing.send_json({"x": "a", "y": "b", "id": i})
            sent += 1
        # What went there comes back once, and no further.
        first.until(lambda: first.stats()["passed_over"] >= before + 5)
        for daemon in (first, second):
            self.assertEqual(daemon.stats()["bad_messages"], 0)
            self.assertLessEqual(daemon.stats("chat")["pairs"], sent)

    def subscribed(self):
        """A publisher, and a daemon that takes what it says."""
        publisher = CONTEXT.socket(zmq.XPUB)
        self.addCleanup(publisher.close, 0)
        port = publisher.bind_to_random_port("tcp://127.0.0.1")
        daemon = self.daemon(subscribe=[
            {"endpoint": f"tcp://127.0.0.1:{port}", "stream": "chat"}])
        self.assertEqual(publisher.recv(), b"\1")  # it has subscribed
        return publisher, daemon

    def test_a_pair_that_came_through_16_daemons_goes_no_further(self):
        publisher, daemon = self.subscribed()
        for number in (16, 15):
            publisher.send_json({"x": "a", "y": "b", "via": [f"d{i}" for i in range(number)]})
        daemon.until(lambda: daemon.stats("chat")["pairs"] == 1)
        self.assertEqual(daemon.stats()["bad_messages"], 1)

    def test_a_message_may_come_without_a_topic(self):
        publisher, daemon = self.subscribed()
        publisher.send_json({"stream": "other", "x": "a", "y": "b", "more": [1, 2]})
        publisher.send_multipart([b"topic", json.dumps({"x": "c", "y": "d", "z": 1}).encode()])
        publisher.send_multipart([b"topic", b"no JSON"])
        daemon.until(lambda: daemon.stats()["messages"] == 3)
        self.assertEqual(daemon.stats()["bad_messages"], 1)
        daemon.until(lambda: daemon.stats("chat")["pairs"] == 2)


if __name__ == "__main__":
    unittest.main()
