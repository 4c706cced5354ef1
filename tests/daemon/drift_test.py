"""A stream that changes its language half-way: it is noticed, and learned."""

import unittest

from phsicd import Case, Subscriber, pairs_of

LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zqxjkvbpygfwmucldrhsnioate")
EVERY = 200  # pairs from model to model


def other_language(pairs):
    """The same sentences in words that share next to nothing with the old ones."""
    return [[x.translate(LETTERS), " ".join(word[::-1] for word in y.split())] for x, y in pairs]


class Drift(Case):
    @classmethod
    def setUpClass(cls):
        # Pivots must be chosen anew when the old ones describe the texts badly.
        cls.d = cls.shared_daemon({"chat": {
            "encoder": "hashing:dim=256", "kernel": "gaussian:sigma=median", "pivots": 40,
            "half-life": 400, "held-back": 200, "reservoir": 500, "refresh": EVERY,
            "refresh-after": "never"}})
        subscriber = Subscriber(cls.d)
        cls.events = []
        for pairs in (pairs_of(2000, 1), other_language(pairs_of(2000, 2))):
            for start in range(0, len(pairs), 100):
                cls.d.ask("score-and-learn", pairs=pairs[start:start + 100], wait=True)
            cls.events.append([message for topic, message in subscriber.catch_up()
                               if topic == "event"])
        cls.before, cls.after = ([event for event in events if event["event"] == "refresh"]
                                 for events in cls.events)

    def test_there_is_a_model_whenever_one_is_due(self):
        self.assertEqual([event["pairs"] for event in self.before + self.after],
                         list(range(EVERY, 4001, EVERY)))

    def test_a_stream_that_stays_as_it_is_keeps_its_pivots_and_raises_no_alarm(self):
        self.assertEqual({event["epoch"] for event in self.before}, {1})
        self.assertEqual([event for event in self.events[0] if event["event"] == "drift"], [])

    def test_the_change_is_told_of_before_the_next_model(self):
        self.assertEqual(self.events[1][0]["event"], "drift")
        drift = self.events[1][0]
        self.assertLess(drift["p_value"], 1e-3)
        self.assertTrue(0 < drift["pairs"] < EVERY)
        self.assertEqual(drift["model"], self.before[-1]["model"])
        stats = self.d.stats("chat")
        alarms = [event for event in self.events[1] if event["event"] == "drift"]
        self.assertEqual(stats["drifts"], len(alarms))

    def test_the_pivots_change(self):
        self.assertGreater(self.after[-1]["epoch"], self.before[-1]["epoch"])
        self.assertEqual(self.d.stats("chat")["epoch"], self.after[-1]["epoch"])

    def test_self_measurement_falls_and_recovers(self):
        usual = min(event["self_auc"] for event in self.before)
        self.assertGreater(usual, 0.99)
        self.assertLess(self.after[0]["self_auc"], usual)
        self.assertGreater(self.after[-1]["self_auc"], usual - 0.002)

    def test_the_new_language_is_what_counts_in_the_end(self):
        new = other_language(pairs_of(100, 3))
        strangers = [[x, y] for (x, _), (_, y) in zip(new, new[1:])]
        good = self.d.ask("score", pairs=new)["scores"]
        bad = self.d.ask("score", pairs=strangers)["scores"]
        wins = sum(g > b for g in good for b in bad) / (len(good) * len(bad))
        self.assertGreater(wins, 0.95)


if __name__ == "__main__":
    unittest.main()
