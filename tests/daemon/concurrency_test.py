"""Many clients at once: each gets its own answers, and all of them."""

import json
import random
import signal
import threading
import unittest

from phsicd import SMALL, Case, Client, Subscriber, pairs_of

PAIRS = pairs_of(600, 21)
CLIENTS = 50
REQUESTS = 60


def request(rng, owner, number):
    """Some request of `owner`, which can be told from its answer."""
    name = f"{owner}/{number}"
    stream = rng.choice(("a", "b"))
    pairs = rng.sample(PAIRS, rng.randint(0, 12))
    return rng.choice([
        {"op": "score", "stream": stream, "pairs": pairs},
        {"op": "score", "stream": stream, "pairs": pairs},
        {"op": "score", "stream": stream, "pairs": pairs, "learn": True, "wait": True},
        {"op": "score-and-learn", "stream": stream, "pairs": pairs},
        {"op": "learn", "stream": stream, "pairs": pairs, "wait": rng.random() < 0.5},
        {"op": "rank", "stream": stream, "x": "a", "candidates": [y for _, y in pairs]},
        {"op": "explain", "stream": stream, "pairs": PAIRS[:1]},
        {"op": "refresh", "stream": stream} if number % 20 == 0 else {"op": "streams"},
        {"op": "stats"}, {"op": "ping"},
        {"op": "sing"}, {"op": "score", "stream": "nowhere", "pairs": []},
    ]) | {"id": name}


def is_answer_to(question, answer):
    if not answer["ok"]:
        return answer["error"]["code"] in {
            "sing": ("unknown_op",),
            "score": ("unknown_stream",) if question.get("stream") == "nowhere" else (),
            "explain": ("not_ready", "overloaded"),
        }.get(question["op"], ())
    member, size = {
        "score": ("scores", len(question.get("pairs", []))),
        "score-and-learn": ("scores", len(question.get("pairs", []))),
        "learn": ("learned", None), "rank": ("ranking", len(question.get("candidates", []))),
        "explain": ("raise", 5), "refresh": ("pairs", None), "streams": ("streams", None),
        "stats": ("daemon", None), "ping": ("version", None)}[question["op"]]
    if member not in answer or (size is not None and len(answer[member]) != size):
        return False
    return question["op"] != "learn" or answer["learned"] == len(question["pairs"])


class Concurrency(Case):
    def converse(self, daemon, owner, problems, taught):
        """Sends everything, with a few requests under way at a time."""
        rng = random.Random(owner)
        client = Client(daemon.service)
        waiting = {}
        try:
            for number in range(REQUESTS):
                question = request(rng, owner, number)
                waiting[question["id"]] = question
                client.send(question)
                if "learn" in question["op"] or question.get("learn"):
                    taught.append(len(question["pairs"]))
                while len(waiting) > rng.randint(0, 10):
                    self.take(client, waiting, problems)
            while waiting:
                self.take(client, waiting, problems)
            client.send({"op": "ping", "id": "last"})
            if (answer := client.receive()).get("id") != "last":
                problems.append(f"one answer too many: {answer}")
        except Exception as problem:  # the test's thread tells of it
            problems.append(f"client {owner}: {problem!r}")
        finally:
            client.close()

    @staticmethod
    def take(client, waiting, problems):
        answer = client.receive()
        question = waiting.pop(answer.get("id"), None)
        if question is None:
            problems.append(f"nobody here asked for {answer}")
        elif not is_answer_to(question, answer):
            problems.append(f"{question} got {answer}")

    def test_every_request_of_fifty_clients_is_answered_once_while_streams_are_added(self):
        streams = {name: {**SMALL, "workers": workers} for name, workers in (("a", 1), ("b", 3))}
        daemon = self.daemon(streams)
        for stream in streams:
            daemon.own.learn(PAIRS, stream=stream)
        before = daemon.stats()
        learned = sum(daemon.stats(stream)["pairs"] for stream in streams)
        problems, taught = [], []
        threads = [threading.Thread(target=self.converse, args=(daemon, owner, problems, taught))
                   for owner in range(CLIENTS)]
        for thread in threads:
            thread.start()
        added = 0
        while any(thread.is_alive() for thread in threads) and added < 10:
            added += 1
            daemon.config["streams"][f"new{added}"] = SMALL
            daemon.reload()
            daemon.ask("score", stream=f"new{added}", pairs=[PAIRS[0]])
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        self.assertGreater(added, 0)
        after = daemon.stats()
        self.assertEqual(after["reloads"], added)
        self.assertEqual(after["lost_replies"], 0)
        self.assertEqual(after["requests"] - before["requests"],
                         after["replies"] - before["replies"])
        # A refresh comes after all that was accepted before it.
        total = sum(daemon.ask("refresh", stream=stream)["pairs"] for stream in streams)
        self.assertEqual(total, learned + sum(taught))


class Load(Case):
    def test_a_full_queue_refuses_at_once_and_counts(self):
        daemon = self.daemon({"chat": {**SMALL, "queue-pairs": 50}})
        subscriber = Subscriber(daemon)
        client = daemon.client()
        count = 400
        for number in range(count):
            client.send({"op": "score", "id": number, "pairs": PAIRS[:40]})
        answers = {}
        for _ in range(count):
            answer = client.receive()
            answers[answer["id"]] = answer
        self.assertEqual(len(answers), count)
        refused = [a for a in answers.values() if not a["ok"]]
        self.assertEqual({a["error"]["code"] for a in refused}, {"overloaded"})
        self.assertLess(len(refused), count)
        stats = daemon.stats("chat")
        self.assertEqual(stats["overloaded"], len(refused))
        self.assertEqual(stats["scored"] - 40 * (count - len(refused)),
                         next(subscriber.probes))
        self.assertEqual(stats["queue"], 0)
        told = 0
        while told < len(refused):
            topic, message = subscriber.receive()
            if topic == "event" and message["event"] == "overload":
                told += message["shed"]
        self.assertEqual(told, len(refused))

    def test_a_request_that_is_larger_than_the_queue_is_served_when_nothing_else_waits(self):
        daemon = self.daemon({"chat": {**SMALL, "queue-pairs": 10, "learn-queue-pairs": 10,
                                       "queue-bytes": "1KiB"}})
        for _ in range(3):
            answer = daemon.ask("score-and-learn", pairs=PAIRS, wait=True)
            self.assertEqual(len(answer["scores"]), len(PAIRS))

    def test_a_flooder_does_not_keep_others_from_being_served(self):
        daemon = self.daemon({"chat": {**SMALL, "queue-pairs": 1000}})
        flooder, other = daemon.client(), daemon.client()
        for number in range(1000):
            flooder.send({"op": "score", "id": number, "pairs": PAIRS[:100]})
        for _ in range(20):
            other.ask("score", pairs=PAIRS[:5])
        answers = [flooder.receive() for _ in range(1000)]
        self.assertEqual(len({answer["id"] for answer in answers}), 1000)

    def test_a_stream_that_is_asked_without_a_break_learns_all_the_same(self):
        daemon = self.daemon({"chat": {**SMALL, "queue-pairs": 100000}}, state=True)
        daemon.own.learn(PAIRS)
        asked = json.dumps({"op": "score", "pairs": 4 * PAIRS}).encode()  # longer than it takes to ask
        askers = [daemon.client(), daemon.client()]
        for _ in range(4):
            for asker in askers:
                asker.send(asked)
        teacher = daemon.client()
        teacher.send({"op": "learn", "pairs": PAIRS[:50], "wait": True, "id": "learn"})
        teacher.send({"op": "refresh", "id": "refresh"})
        teacher.send({"op": "snapshot", "id": "snapshot"})
        daemon.push().send_json({"stream": "chat", "pairs": PAIRS[50:60]})
        taught = set()
        # A share of the turns is enough for a few; without one it takes as long as somebody asks.
        for turn in range(300):
            asker = askers[turn % 2]
            asker.socket.recv()
            asker.send(asked)
            while teacher.socket.poll(0):
                answer = teacher.receive()
                self.assertTrue(answer["ok"], answer)
                taught.add(answer["id"])
            if (taught == {"learn", "refresh", "snapshot"}
                    and daemon.stats("chat")["pairs"] == len(PAIRS) + 60):
                return
        self.fail(f"after 300 scores: {taught}, {daemon.stats('chat')['pairs']} pairs")

    def test_nothing_that_was_pushed_is_lost_when_the_learner_is_behind(self):
        for options in ({"learn-queue-pairs": 20}, {"queue-pairs": 20}):
            with self.subTest(options=options):
                daemon = self.daemon({"chat": {**SMALL, **options}, "other": SMALL})
                subscriber = Subscriber(daemon)
                push = daemon.push()
                for start in range(0, 6000, 10):
                    push.send_json({"stream": "chat", "pairs": [
                        {"x": x, "y": y, "id": start + i}
                        for i, (x, y) in enumerate(PAIRS[start % 600:start % 600 + 10])]})
                ids = []
                while len(ids) < 6000:
                    topic, message = subscriber.receive()
                    if topic == "score" and isinstance(message.get("id"), int):
                        ids.append(message["id"])
                self.assertEqual(ids, list(range(6000)))
                daemon.until(lambda: daemon.stats("chat")["pairs"] == 6000)
                self.assertEqual(daemon.stats("chat")["unlearned"], 0)
                self.assertGreater(daemon.stats()["stalled"], 0)
                # The source is read again.
                push.send_json({"stream": "other", "x": "a", "y": "b"})
                daemon.until(lambda: daemon.stats("other")["pairs"] == 1)

    def test_signals_that_come_in_showers_leave_one_daemon_that_serves(self):
        daemon = self.daemon()
        for _ in range(50):
            daemon.signal(signal.SIGHUP)
        daemon.until(lambda: daemon.stats()["reloads"] > 0)
        self.assertEqual(daemon.ask("score", pairs=[["a", "b"]])["scores"], [0])
        self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    unittest.main()
