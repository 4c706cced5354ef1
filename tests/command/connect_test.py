"""The command with a daemon: the same results as without, and what only a daemon can do."""

import json
import queue
import signal
import statistics
import subprocess
import threading
import time
import unittest

import zmq
from daemon import Daemon
from phsic import PHSIC, SMALL, Case, attempt, bitext, complaint, on_terminal, run, tsv


def numbers_in(value):
    """All numbers of a JSON value, in order."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    if isinstance(value, (int, float)):
        return [float(value)]
    parts = value.values() if isinstance(value, dict) else value
    return [number for part in parts for number in numbers_in(part)]


class Connected(Case):
    """A test with a folder and daemons in it."""

    def daemon(self, *settings, **more):
        """A new daemon, whose streams know nothing."""
        folder = self.folder / f"daemon{len(list(self.folder.glob('daemon*')))}"
        folder.mkdir()
        daemon = Daemon(folder, *settings, **more)
        self.addCleanup(daemon.stop)
        return daemon

    def assert_same_scores(self, found, expected, column=-1):
        def scores(output):
            return [float(line.split("\t")[column]) for line in output.splitlines()]

        ours, theirs = scores(found), scores(expected)
        deviation = statistics.stdev(score for score in theirs if score == score)
        for place, (a, b) in enumerate(zip(ours, theirs)):
            self.assertEqual(a == a, b == b, f"line {place}: found {a}, expected {b}")
        # Six digits are printed.
        largest = max(abs(score) for score in theirs if score == score)
        self.assert_close([a for a in ours if a == a], [b for b in theirs if b == b],
                          1e-5 * deviation + 1e-5 * largest)
        without = [line.split("\t")[:-1] for line in expected.splitlines()]
        self.assertEqual([line.split("\t")[:-1] for line in found.splitlines()], without)


class WithTables(Connected):
    def setUp(self):
        super().setUp()
        rows = bitext(3000, 21, 0.2)
        self.labelled = self.file("labelled.tsv", tsv(rows))
        self.pairs = self.file("pairs.tsv", tsv(row[1:] for row in rows))
        self.query = self.file("query.tsv", tsv(row[1:] for row in bitext(500, 22, 0.2)))
        self.choices = self.file("choices.tsv", tsv(
            (row[1], row[2], rows[i + 50][2], rows[i + 90][2]) for i, row in enumerate(rows[:60])))


class SameAsOffline(WithTables):
    def compare(self, *arguments, settings=(), flags=()):
        offline = run(*arguments, *SMALL, *flags)
        online = run(*arguments, *self.daemon(*settings).connect)
        self.assert_same_scores(online, offline)

    def test_each_pair_is_scored_before_it_is_learned(self):
        self.compare("score", self.pairs)

    def test_a_file_is_learned_first(self):
        self.compare("score", "--learn", self.pairs, self.query, flags=["--keep-own-share"])

    def test_all_is_learned_first(self):
        self.compare("score", "--two-pass", self.pairs, flags=["--keep-own-share"])

    def test_other_kernels_and_forgetting(self):
        for options in ({"half-life": "700"}, {"window": "1024"}, {"estimator": "phsic"},
                        {"estimator": "pmi"}, {"kernel": "gaussian:sigma=median", "pivots": "40"},
                        {"kernel": "spectrum:n=3", "pivots": "40"}):
            settings = [f"streams.default.{name}={value}" for name, value in options.items()]
            flags = [part for name, value in options.items() for part in (f"--{name}", value)]
            with self.subTest(options):
                self.compare("score", self.pairs, settings=settings, flags=flags)
                self.compare("score", "--learn", self.pairs, self.query, settings=settings,
                             flags=[*flags, "--keep-own-share"])

    def test_times_are_those_of_the_table(self):
        rows = bitext(1500, 23, 0.2)
        table = self.file("timed.tsv", tsv((x, y, str(3 * i)) for i, (_, x, y) in enumerate(rows)))
        self.compare("score", table, "--time", "3", flags=["--half-life", "15m"],
                     settings=["streams.default.half-life=15m"])

    def test_percentiles_and_p_values(self):
        columns = ["--score-only", "--with", "percentile,p-value"]
        offline = run("score", self.pairs, *SMALL, *columns)
        online = run("score", self.pairs, *self.daemon().connect, *columns)
        self.assertEqual(offline.count("nan"), online.count("nan"))
        for column in (1, 2):
            # A score that differs in its last bits may stand on the other side of another.
            theirs, ours = ([float(line.split("\t")[column]) for line in output.splitlines()
                             if "nan" not in line] for output in (offline, online))
            self.assertGreater(len(theirs), 1000)
            self.assert_close(ours, theirs, 0.005)

    def test_bad_lines_stay_in_their_place(self):
        table = self.file("bad.jsonl", "".join(
            json.dumps({"x": x, "y": y}) + "\n" for _, x, y in bitext(400, 24)) +
            '{"x": 1}\n{"x": "a", "y": "a"}\n')
        offline = run("score", table, *SMALL).splitlines()
        online = run("score", table, *self.daemon().connect).splitlines()
        self.assertEqual(len(online), len(offline))
        self.assertIsNone(json.loads(online[-2])["score"])
        self.assertAlmostEqual(json.loads(online[-1])["score"], json.loads(offline[-1])["score"], 4)

    def test_problems_of_the_encoder_are_bad_lines(self):
        table = self.file("v.tsv", "1 2\t3 4\nnothing\t1 2\n1 2\t3\n0 1\t2 3\n")
        flags = ["--encoder", "vectors:dim=2"]
        offline = attempt("score", table, *flags)
        online = attempt("score", table, *self.daemon("streams.default.encoder=vectors:dim=2").connect)
        self.assertEqual(online.stdout, offline.stdout)
        self.assertEqual(online.stderr, offline.stderr)
        self.assertIn(b"v.tsv:2", online.stderr)

    def test_candidates_are_ranked(self):
        arguments = ["rank", "--learn", self.pairs, self.choices]
        offline = [json.loads(line) for line in run(*arguments, *SMALL).splitlines()]
        online = [json.loads(line) for line in run(*arguments, *self.daemon().connect).splitlines()]
        self.assertEqual(len(online), 60)
        for ours, theirs in zip(online, offline):
            self.assertEqual(ours["x"], theirs["x"])
            self.assertEqual([entry["candidate"] for entry in ours["ranking"]],
                             [entry["candidate"] for entry in theirs["ranking"]])
            self.assert_close([entry["score"] for entry in ours["ranking"]],
                              [entry["score"] for entry in theirs["ranking"]], 1e-4)

    def test_evaluations(self):
        for verb, arguments in (("detect", ["--label", "1", self.labelled]),
                                ("rank", ["--learn", self.pairs, self.choices]),
                                ("next", [self.pairs])):
            offline = json.loads(run("eval", verb, *arguments, "--json", *SMALL))
            online = json.loads(run("eval", verb, *arguments, "--json", *self.daemon().connect))
            self.assertEqual(online.keys(), offline.keys())
            self.assert_close(numbers_in(online), numbers_in(offline), 1e-6)

    def test_what_an_evaluation_says_of_the_stream(self):
        for estimator in ("pmi", "whitened"):
            daemon = self.daemon(f"streams.default.estimator={estimator}")
            arguments = ["eval", "detect", "--label", "1", self.labelled]
            self.assertEqual(run(*arguments, *daemon.connect),
                             run(*arguments, *SMALL, "--estimator", estimator))

    def test_what_was_learned_stays_with_the_daemon(self):
        daemon = self.daemon()
        run("score", "--learn", self.pairs, self.query, *daemon.connect)
        learned = json.loads(run("streams", "--json", *daemon.connect))["streams"][0]["pairs"]
        # Those that came before were not learned again.
        self.assertEqual(learned, len(set(self.pairs.read_text().splitlines())))


class Deciding(WithTables):
    def test_a_daemon_filters_as_a_stream_of_ones_own(self):
        table = self.file("mixed.tsv", self.pairs.read_text() + "a river\t\nsame words\tsame words\n")
        offline = run("filter", "--annotate", table, *SMALL)
        self.assertEqual(run("filter", "--annotate", table, *self.daemon().connect), offline)
        for word in ("keep", "cut", "undecided\tno_model", "duplicate", "no_empty(right)",
                     "no_identical"):
            self.assertIn(word, offline)

    def test_a_daemon_leaves_in_what_a_pair_has_taught_itself(self):
        for how in (["--two-pass", self.pairs], ["--learn", self.pairs, self.query]):
            with self.subTest(how=how[0]):
                found = run("filter", "--annotate", *how, *self.daemon().connect)
                self.assertEqual(found, run("filter", "--annotate", "--keep-own-share", *how,
                                            *SMALL))
                self.assertIn("\tkeep\t", found)
                self.assertIn("\tcut", found)

    def test_a_filter_says_itself_what_becomes_of_undecided_pairs(self):
        for flags in ([], ["--undecided", "reject"], ["--undecided", "keep"]):
            self.assertEqual(run("filter", self.pairs, *flags, *self.daemon().connect),
                             run("filter", self.pairs, *flags, *SMALL))
        config = self.file("daemon.yaml", "streams:\n  a:\n    undecided: reject\n")
        for verb in (["filter", "--config", config], ["score", "--config", config]):
            self.assertIn("daemon.yaml:3: undecided: found an option of filters",
                          complaint(*verb, stdin="a\tb\n"))

    def test_a_stream_is_used_without_being_taught(self):
        daemon = self.daemon()
        run("score", self.pairs, *daemon.connect)

        def learned():
            return json.loads(run("streams", "--json", *daemon.connect))["streams"][0]["pairs"]
        before = learned()
        first = run("filter", "--annotate", self.query, "--no-learn", *daemon.connect)
        self.assertEqual(run("filter", "--annotate", self.query, "--no-learn", *daemon.connect),
                         first)
        self.assertNotIn("duplicate", first)
        self.assertEqual(len(run("rank", "--no-learn", self.choices,
                                 *daemon.connect).splitlines()), 60)
        run("score", "--no-learn", self.query, *daemon.connect)
        self.assertEqual(learned(), before)

    def test_another_cut_than_the_daemons_is_refused(self):
        daemon = self.daemon("streams.default.p=0.01")
        self.assertIn("expected the same", complaint("filter", "--p", "0.5", self.query,
                                                     *daemon.connect))
        self.assertIn("has p 0.01; expected the same", complaint("filter", "--keep", "0.5",
                                                                 self.query, *daemon.connect))
        run("filter", "--p", "0.01", self.query, *daemon.connect)

    def test_pairs_that_were_learned_already_are_told(self):
        daemon = self.daemon()
        hint = b"--no-learn judges them by their scores"
        for flags, is_told in (([], False), ([], True), (["--no-learn"], False)):
            done = attempt("filter", self.pairs, *flags, *daemon.connect)
            self.assertEqual(hint in done.stderr, is_told)
        twice = self.file("twice.tsv", (self.pairs.read_text()) * 3)
        self.assertNotIn(hint, attempt("filter", *SMALL, twice).stderr)

    def test_a_stream_is_saved_as_a_model_file(self):
        model = self.folder / "m.phsic"
        self.assertIn("keeps no state", complaint("save", "-o", model, *self.daemon().connect))
        daemon = self.daemon(f"state={self.folder}/state.db")
        run("score", self.pairs, *daemon.connect)
        self.assertIn("2705 pairs", run("save", "-o", model, *daemon.connect))
        live = run("filter", "--annotate", self.query, "--no-learn", *daemon.connect)
        self.assertEqual(run("filter", "--annotate", "--keep-own-share", "--model", model,
                             self.query), live)
        self.assertIn("expected none of that name", complaint("save", "-o", model,
                                                              *daemon.connect))
        state = self.folder / "state.db"
        for verb in (["save", *daemon.connect], ["state", "export", state]):
            self.assertIn("the same file as the input", complaint(*verb, "--force", "-o", state))
        run("save", "--force", "-o", model, *daemon.connect)

    def test_pairs_that_a_model_file_was_only_taught_count_as_kept(self):
        model, state = self.folder / "default.phsic", self.folder / "state.db"
        run("learn", "--encoder", "hashing:dim=128", self.pairs, "-o", model)
        run("state", "import", state, model)
        daemon = self.daemon(f"state={state}")
        found = json.loads(run("stats", "--json", *daemon.connect))["streams"]["default"]
        self.assertEqual((found["pairs"], found["kept"], found["undecided"]), (2705, 2705, 0))
        self.assertEqual(found["reasons"], {"duplicate": 295})


class Running:
    """A command that runs in the background, and the lines that it prints."""

    def __init__(self, test, *arguments):
        self.process = subprocess.Popen([PHSIC, *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        reader = threading.Thread(target=lambda: [self.lines.put(line)
                                                  for line in self.process.stdout])
        reader.start()
        for close in (self.process.stdout.close, self.process.stderr.close, reader.join,
                      self.process.wait, self.process.kill):
            test.addCleanup(close)

    def next_line(self):
        return self.lines.get(timeout=60)

    def interrupt(self):
        """Presses Ctrl-C. Returns the status it ends with, and what it said on standard error."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60), self.process.stderr.read()


class Live(Connected):
    def tail(self, daemon):
        """A `tail` of all scores, which the daemon knows of: probes are sent until it shows one."""
        tail = Running(self, "tail", "--json", "--topic", "score", *daemon.connect)
        while tail.lines.empty():
            self.assertIsNone(tail.process.poll())
            run("send", *daemon.connect, "--id", "3", stdin="a\tb\tprobe\n")
        return tail

    def next_message(self, tail):
        """The next message that is no probe."""
        message = {"id": "probe"}
        while message.get("id") == "probe":
            message = json.loads(tail.next_line())
        return message

    def test_what_is_sent_is_seen_once_and_without_a_gap(self):
        daemon = self.daemon("streams.default.feed-texts=true")
        rows = [(x, y, f"m-{i}") for i, (_, x, y) in enumerate(bitext(2000, 31))]
        table = self.file("t.tsv", tsv(rows))
        tail = self.tail(daemon)
        self.assertEqual(run("send", table, "--id", "3", *daemon.connect), "sent 2000 pairs\n")
        messages = [self.next_message(tail) for _ in rows]
        self.assertEqual([(m["x"], m["y"], m["id"]) for m in messages], rows)
        self.assertEqual({m["topic"] for m in messages}, {"default/score"})
        self.assertEqual([m["seq"] - messages[0]["seq"] for m in messages], list(range(len(rows))))
        self.assertEqual(tail.interrupt(), (0, ""))
        self.assertTrue(tail.lines.empty())

    def test_lines_are_followed_as_they_are_written(self):
        daemon = self.daemon()
        log = self.file("chat.jsonl", '{"x": "a", "y": "b", "id": 0}\n')
        tail = self.tail(daemon)
        sender = Running(self, "send", log, "--follow", "--id", "id", *daemon.connect)
        self.assertEqual(self.next_message(tail)["id"], "0")
        for i in range(1, 4):
            with open(log, "a", encoding="utf-8") as file:
                file.write(json.dumps({"x": "a", "y": "b", "id": i}) + "\n")
            self.assertEqual(self.next_message(tail)["id"], str(i))
        with open(log, "a", encoding="utf-8") as file:
            file.write('{"x": "half a')
        self.assertEqual(sender.interrupt(), (0, ""))
        self.assertEqual(sender.next_line(), "sent 4 pairs\n")

    def test_a_rate_is_kept(self):
        daemon = self.daemon()
        began = time.monotonic()
        run("send", "--rate", "200", *daemon.connect, stdin="a\tb\n" * 101)
        # The first goes at once; nothing is said about how much longer it may take.
        self.assertGreaterEqual(time.monotonic() - began, 0.5)

    def test_a_daemon_that_ends_is_told(self):
        daemon = self.daemon()
        log = self.file("t.tsv", "a\tb\n")
        tail = self.tail(daemon)
        sender = Running(self, "send", log, "--follow", *daemon.connect)
        self.assertIsNone(self.next_message(tail).get("id"))
        daemon.stop()
        with open(log, "a", encoding="utf-8") as file:
            file.write("c\td\n")
        self.assertEqual(sender.process.wait(timeout=60), 1)
        self.assertIn("hung up after 1 pair", sender.process.stderr.read())
        status, told = tail.interrupt()
        self.assertEqual(status, 0)
        self.assertIn("the daemon is gone", told)

    def test_tail_says_once_how_a_reader_can_know_the_pairs(self):
        daemon = self.daemon()
        self.tail(daemon)  # as long as the other needs to be there, too
        tail = Running(self, "tail", "--topic", "score", "--count", "3", *daemon.connect)
        while tail.process.poll() is None:
            run("send", *daemon.connect, stdin="a\tb\n")
        self.assertEqual(tail.process.stderr.read().count("feed-texts: true"), 1)

    def test_tail_ends_after_a_count_and_shows_what_was_asked_for(self):
        daemon = self.daemon()
        tail = Running(self, "tail", "--topic", "event", "--count", "1", *daemon.connect)
        run("score", *daemon.connect, stdin=tsv(row[1:] for row in bitext(300, 32)))
        while tail.process.poll() is None:
            run("refresh", *daemon.connect)
        self.assertEqual(tail.process.returncode, 0)
        line = tail.next_line()
        self.assertTrue(tail.lines.empty())
        self.assertIn("default/event", line)
        self.assertIn("refresh model=", line)

    def test_tail_shows_the_percentiles_that_were_asked_for(self):
        daemon = self.daemon()
        self.tail(daemon)  # as long as the other needs to be there, too
        run("score", *daemon.connect, stdin=tsv(row[1:] for row in bitext(600, 32, 0.2)))
        tail = Running(self, "tail", "--topic", "score", "--min-percentile", "0.2",
                       "--max-percentile", "0.6", "--count", "20", "--json", *daemon.connect)
        while tail.process.poll() is None:
            run("score", "--no-learn", *daemon.connect,
                stdin=tsv(row[1:] for row in bitext(100, 33, 0.2)))
        percentiles = [json.loads(tail.next_line())["percentile"] for _ in range(20)]
        self.assertTrue(all(0.2 <= percentile <= 0.6 for percentile in percentiles), percentiles)

    def test_a_table_of_no_use_has_a_status_of_its_own(self):
        daemon = self.daemon()
        table = self.file("t.tsv", "a\tb\n" * 30)
        done = attempt("send", "--id", "9", table, *daemon.connect)
        self.assertEqual((done.returncode, done.stdout), (4, b"sent 0 pairs\n"))
        self.assertIn(b"expected at least 9", done.stderr)
        done = attempt("score", "--y", "9", "--score-only", table, *daemon.connect)
        self.assertEqual((done.returncode, done.stdout), (4, b"nan\n" * 30))
        for verb in ("send", "score"):
            self.assertIn("one column", complaint(verb, "--x", "1", "--y", "1", table,
                                                  *daemon.connect))
        copying = self.daemon("streams.default.learn-identical=true")
        self.assertEqual(run("send", "--x", "1", "--y", "1", table, *copying.connect),
                         "sent 30 pairs\n")

    def test_the_help_of_send_speaks_of_no_output(self):
        self.assertNotIn("output", run("send", "--help"))
        self.assertIn("in the output", " ".join(run("score", "--help").split()))

    def test_bad_lines_are_told_and_not_sent(self):
        daemon = self.daemon()
        done = attempt("send", "--id", "3", *daemon.connect,
                       stdin="a\tb\t1\nlonely\nc\td\t" + "i" * 300 + "\n")
        self.assertEqual(done.stdout, b"sent 1 pair\n")
        self.assertIn(b"standard input:2", done.stderr)
        self.assertIn(b"standard input:3: the id has 300 bytes", done.stderr)
        self.assertIn("standard input:1", complaint("send", "--bad-lines", "fail", *daemon.connect,
                                                    stdin="lonely\n", expect=3))


class Asking(Connected):
    def setUp(self):
        super().setUp()
        self.here = self.daemon("streams.default.duplicates=learn")  # some come again
        rows = bitext(1500, 41)
        self.pair = rows[0][1:]
        run("score", *self.here.connect, stdin=tsv(row[1:] for row in rows))

    def ask(self, *arguments):
        return run(*arguments, *self.here.connect)

    def test_stats_tell_everything(self):
        told = json.loads(self.ask("stats", "--json"))
        self.assertEqual(told["streams"]["default"]["pairs"], 1500)
        text = self.ask("stats", "--stream", "default")
        for name in (*told["streams"]["default"], *told["daemon"]):
            self.assertIn("known ids" if name == "duplicates" else name, text)
        self.assertNotIn("duplicates", text)

    def test_top_prints_a_table_for_each_look(self):
        text = self.ask("top", "--count", "2", "--interval", "0.05")
        self.assertEqual(text.count("self-AUC"), 2)
        self.assertIn("default", text)
        self.assertNotIn("\x1b", text)

    def test_explain_names_learned_pairs(self):
        told = json.loads(self.ask("explain", *self.pair, "--top", "3", "--json"))
        self.assertEqual(len(told["raise"]), 3)
        contributions = [part["contribution"] for part in told["raise"]]
        self.assertEqual(contributions, sorted(contributions, reverse=True))
        text = self.ask("explain", *self.pair, "--top", "3")
        self.assertIn(told["raise"][0]["x"][:50], text)
        self.assertIn(f"score {told['score']:.4f}", text)

    def test_refresh_builds_a_model(self):
        before = json.loads(self.ask("streams", "--json"))["streams"][0]["model"]
        told = json.loads(self.ask("refresh", "--all", "--json"))
        self.assertEqual(told["model"], before + 1)
        self.assertIn("self_auc", self.ask("refresh"))

    def test_streams_and_ping_are_told_plainly(self):
        self.assertIn("default: 1500 pairs learned", self.ask("streams"))
        self.assertIn(f"encoder: {SMALL[1]}", self.ask("streams"))
        self.assertIn(self.here.service, self.ask("ping"))


class Refused(Connected):
    def test_no_daemon(self):
        nowhere = f"ipc://{self.folder}/nobody"
        for verb in (["score"], ["send"], ["tail"], ["top"], ["stats"], ["explain", "a", "b"],
                     ["refresh"], ["streams"], ["ping"]):
            told = complaint(*verb, "--connect", nowhere, "--timeout", "0.1")
            self.assertIn(nowhere, told)
            self.assertIn("phsicd", told)
        told = complaint("send", "--endpoint", nowhere, "--timeout", "0.1", stdin="a\tb\n")
        self.assertIn(nowhere, told)
        self.assertIn("expected an endpoint", complaint("ping", "--connect", "nonsense"))

    def test_another_socket(self):
        daemon = self.daemon()
        feed = daemon.service.replace("service", "feed")
        self.assertIn("not the service", complaint("ping", "--connect", feed, "--timeout", "0.5"))

    def test_unknown_and_unnamed_streams(self):
        daemon = self.daemon(config=self.file("d.yaml", "streams: {default: {}, other: {}}"))
        for verb in (["score"], ["send"], ["stats"], ["tail"], ["refresh"], ["explain", "a", "b"]):
            told = complaint(*verb, *daemon.connect, "--stream", "missing", stdin="a\tb\n")
            self.assertIn("missing", told)
            self.assertIn("default, other", told)
        for verb in (["score"], ["send"], ["refresh"]):
            self.assertIn("default, other", complaint(*verb, *daemon.connect, stdin="a\tb\n"))
        self.assertEqual(run("score", *daemon.connect, "--stream", "other", stdin="a\tb\n"),
                         "a\tb\t0\n")

    def test_flags_that_differ_from_the_stream(self):
        daemon = self.daemon("streams.default.half-life=2h")
        config = self.file("m.yaml", "half-life: 120m\nencoder: {name: hashing, dim: 128}\n")
        self.assertEqual(run("score", *daemon.connect, "--config", config, "--kernel", "cosine",
                             *SMALL, stdin="a\tb\n"), "a\tb\t0\n")
        told = complaint("score", *daemon.connect, "--encoder", "hashing:dim=64", "--rank", "9",
                         stdin="a\tb\n")
        for words in ("hashing:dim=64", "hashing:dim=128", "--rank: found 9", "256"):
            self.assertIn(words, told)
        told = complaint("score", *daemon.connect, "--config", self.file("n.yaml", "window: 500\n"),
                         stdin="a\tb\n")
        self.assertIn("window", told)
        self.assertIn("--encoder-path", complaint("score", *daemon.connect, "--encoder-path", "/",
                                                  stdin="a\tb\n"))

    def test_explaining_before_there_is_a_model(self):
        self.assertIn("not_ready", complaint("explain", "a", "b", *self.daemon().connect))

    def test_a_pair_larger_than_a_message(self):
        daemon = self.daemon()
        table = self.file("large.tsv", "a\tb\n" + "x" * (5 << 20) + "\ty\nc\td\n")
        done = attempt("score", table, "--score-only", *daemon.connect)
        self.assertEqual(done.stdout, b"0\nnan\n0\n")
        self.assertIn(b"large.tsv:2: the pair is larger", done.stderr)

    def test_a_daemon_that_takes_less_than_that_hangs_up(self):
        daemon = self.daemon("message-bytes=16KiB")
        self.assertIn("hung up", complaint("explain", "x" * 40_000, "y", *daemon.connect))

    def test_a_daemon_that_takes_less_is_sent_less(self):
        # The table is learned again and again, and its lines differ in their numbers alone.
        daemon = self.daemon("message-bytes=16KiB", "request-pairs=7",
                             "streams.default.duplicates=learn")
        rows = [("some words", f"line {i}") for i in range(50)]
        rows[20] = ("x" * 15_000, "y")
        table = self.file("t.tsv", tsv(rows))
        choices = self.file("choices.tsv", tsv([["a"] + [y for _, y in rows if len(y) > 1]]))
        for flags in ([], ["--two-pass"]):
            with self.subTest(flags=flags):
                done = attempt("score", table, "--score-only", *flags, *daemon.connect)
                self.assertEqual([line == b"nan" for line in done.stdout.splitlines()],
                                 [i == 20 for i in range(50)])
                self.assertIn(b"t.tsv:21: the pair is larger than the 12288 bytes", done.stderr)
        ranked = run("rank", choices, "--learn", table, *daemon.connect)
        self.assertEqual(len(ranked.splitlines()), 1)

        def pairs():
            return json.loads(run("stats", "--json", *daemon.connect))["streams"]["default"]["pairs"]
        before = pairs()
        self.assertEqual(run("send", table, *daemon.connect), "sent 49 pairs\n")
        while pairs() < before + 49:
            pass

    def test_flags_without_a_daemon(self):
        config = self.file("stream.yaml", "rank: 7\n")
        for more in ([], ["--config", config]):
            self.assertIn("--connect", complaint("score", "--stream", "a", *more, stdin="a\tb\n",
                                                 expect=2))

    def test_a_daemons_configuration_that_differs_from_the_stream(self):
        config = self.file("d.yaml", "defaults: {rank: 7}\nstreams: {default: {}, other: {}}\n")
        daemon = self.daemon(config=config)
        run("score", *daemon.connect, "--stream", "other", "--config", config, stdin="a\tb\n")
        config.write_text("defaults: {rank: 8}\nstreams: {default: {}, other: {rank: 9}}\n")
        told = complaint("score", *daemon.connect, "--stream", "other", "--config", config,
                         stdin="a\tb\n")
        self.assertIn("--rank: found 9", told)
        self.assertNotIn("found 8", told)


class HostileDaemon(Case):
    """What a daemon says may hold anything."""

    BAD = "\x1b]0;owned\x07\u202e\u009b\nphsic: all is well"

    def setUp(self):
        super().setUp()
        self.connect = ["--connect", f"ipc://{self.folder}/service", "--timeout", "0.2"]
        context = zmq.Context()
        self.addCleanup(context.term)
        self.ends = context.socket(zmq.PAIR)
        self.ends.sndtimeo = 1000
        self.ends.bind("inproc://ends")
        serving = threading.Thread(target=self.serve, args=(context,))
        serving.start()
        self.addCleanup(self.ends.close, 0)
        self.addCleanup(serving.join)
        self.addCleanup(self.ends.send, b"")

    def serve(self, context):
        """Answers until something is said at the other end of `ends`."""
        with context.socket(zmq.ROUTER) as service, context.socket(zmq.PAIR) as ends:
            service.bind(self.connect[1])
            ends.connect("inproc://ends")
            while not ends.poll(0):
                if zmq.select([service, ends], [], [])[0] != [service]:
                    continue
                client, text = service.recv_multipart()
                request = json.loads(text)
                answer = {"ok": True, "id": request["id"], **self.answer(request["op"])}
                service.send_multipart([client, json.dumps(answer, ensure_ascii=False).encode()])

    def answer(self, op):
        bad = self.BAD
        part = {"x": bad, "y": bad, "contribution": 1}
        return {
            "ping": {"version": bad, "endpoints": {name: [f"ipc://{self.folder}/{bad}"]
                                                   for name in ("service", "ingest", "feed")}},
            "streams": {"streams": [{"name": bad, "options": {bad: bad}}]},
            "stats": {"streams": {bad: {bad: bad}}, "daemon": {bad: bad, "version": bad}},
            "explain": {"score": 1, "raise": [part], "lower": [part]},
            "refresh": {bad: bad},
            "learn": {"learned": 0},
            "snapshot": {"ok": False, "error": {"code": bad, "message": bad}},
        }[op]

    def assert_is_harmless(self, text):
        for character in "\x1b\x07\u202e\u009b":
            self.assertNotIn(character, text)
        self.assertNotIn("\nphsic: all is well", text)
        self.assertIn("phsic: all is well", text)

    def test_what_it_says_cannot_command_a_terminal(self):
        for verb in (["ping"], ["streams"], ["stats"], ["top", "--count", "1", "--interval", "0.05"],
                     ["explain", "a", "b"], ["refresh"]):
            self.assert_is_harmless(run(*verb, *self.connect))

    def test_what_it_says_cannot_command_a_terminal_as_json(self):
        said = on_terminal("refresh", "--json", *self.connect)
        for character in "\x1b\x07\u202e\u009b":
            self.assertNotIn(character, said)
        self.assertEqual(json.loads(run("refresh", "--json", *self.connect)),
                         {self.BAD: self.BAD})

    def test_the_endpoints_it_names_are_shown_in_messages_only_as_they_may_be(self):
        self.assert_is_harmless(complaint("snapshot", *self.connect))
        self.assert_is_harmless(complaint("tail", *self.connect))
        self.assert_is_harmless(complaint("send", *self.connect, stdin="a\tb\n"))
        self.assert_is_harmless(complaint("score", "--rank", "9", *self.connect, stdin="a\tb\n"))


if __name__ == "__main__":
    unittest.main()
