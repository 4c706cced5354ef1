"""What looks after the state of a daemon: phsic state, and phsic snapshot."""

import json
import sqlite3
import unittest
from pathlib import Path

import zmq

from daemon import Daemon
from phsic import PHSIC, SMALL, Case, attempt, bitext, complaint, run, tsv

CONTEXT = zmq.Context()
# The number of an entry, in SQL.
ENTRY = "key % (1 << 44)"


def pairs(count, seed):
    return [row[1:] for row in bitext(count, seed)]


class Stateful(Case):
    """A test with a folder, and daemons that keep state in it and learn all pairs, those that come
    again, too: what is counted is what was sent."""

    def setUp(self):
        super().setUp()
        self.state = self.folder / "state.db"
        self.query = pairs(200, 77)

    def daemon(self, *settings, state=None, keep=True):
        folder = self.folder / f"daemon{len(list(self.folder.glob('daemon*')))}"
        folder.mkdir()
        settings = (f"state={state or self.state}", "streams.default.duplicates=learn", *settings,
                    *(["journal=keep"] if keep else []))
        daemon = Daemon(folder, *settings)
        self.addCleanup(daemon.stop)
        return daemon

    def table(self, name, count, seed):
        return self.file(name, tsv(pairs(count, seed)))

    def learn(self, daemon, table, *flags):
        return run("score", table, *daemon.connect, *flags)

    def scores(self, daemon, stream=None):
        """Scores of pairs that are not learned, as the daemon gives them, to the last bit."""
        socket = CONTEXT.socket(zmq.DEALER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(daemon.service)
        request = {"op": "score", "pairs": self.query, **({"stream": stream} if stream else {})}
        socket.send(json.dumps(request).encode())
        self.assertTrue(socket.poll(60000))
        answer = json.loads(socket.recv())
        socket.close()
        self.assertTrue(answer["ok"], answer)
        self.assertNotEqual(answer["scores"][0], 0)
        return answer["scores"]

    def info(self, file=None):
        return json.loads(run("state", "info", "--json", file or self.state))


class Looking(Stateful):
    def test_all_is_told_while_the_daemon_runs(self):
        daemon = self.daemon()
        self.learn(daemon, self.table("a.tsv", 600, 1))
        told = self.info()
        self.assertTrue(told["in_use"])
        self.assertGreaterEqual(told["version"], 1)
        (stream,) = told["streams"]
        self.assertEqual(stream["name"], "default")
        self.assertEqual(stream["pairs"], 600)
        self.assertEqual(stream["identity"]["seed"], "1")
        self.assertEqual(stream["options"]["encoder"], SMALL[1])
        self.assertEqual(stream["snapshots"], [])
        self.assertEqual(stream["journal"]["pairs"], 600)
        self.assertEqual(stream["journal"]["first"], 1)
        self.assertTrue(stream["journal"]["whole"])
        self.assertIn("default/score", told["feed"])

        answer = run("snapshot", *daemon.connect)
        self.assertRegex(answer, r"pairs +600\n")
        self.assertEqual(json.loads(run("snapshot", "--json", *daemon.connect))["pairs"], 600)
        (stream,) = self.info()["streams"]
        self.assertEqual([snapshot["pairs"] for snapshot in stream["snapshots"]], [600, 600])
        self.assertEqual(stream["pairs"], 600)

        text = run("state", "info", self.state)
        for part in ("in use by a daemon", "default: 600 pairs", "x kernel: cosine", "600 pairs, 2",
                     "entries from 1 on, 600 pairs", "whole"):
            self.assertIn(part, text)
        daemon.stop()
        self.assertFalse(self.info()["in_use"])
        self.assertNotIn("in use", run("state", "info", self.state))

    def test_a_trimmed_journal_is_not_whole(self):
        daemon = self.daemon("snapshots=1", keep=False)
        self.learn(daemon, self.table("a.tsv", 600, 1))
        run("snapshot", *daemon.connect)
        self.learn(daemon, self.table("b.tsv", 40, 2))
        (stream,) = self.info()["streams"]
        self.assertEqual(stream["pairs"], 640)
        self.assertEqual(stream["journal"]["pairs"], 40)
        self.assertFalse(stream["journal"]["whole"])
        self.assertGreater(stream["journal"]["first"], 1)
        found = complaint("state", "rebuild", self.state, "-o", self.folder / "new.db")
        self.assertIn("a journal that begins with entry", found)
        self.assertIn("journal: keep", found)
        self.assertIn("--from", found)

    def test_a_sound_file_is_found_sound(self):
        daemon = self.daemon()
        self.learn(daemon, self.table("a.tsv", 600, 1))
        found = run("state", "verify", "--replay", self.state)
        self.assertIn("600 of them from the journal", found)
        self.assertIn("nothing is wrong", found)
        self.assertIn("was not looked at", found)
        daemon.stop()
        found = run("state", "verify", "--replay", self.state)
        self.assertIn("recovered 600 pairs, 0 of them", found)
        self.assertNotIn("was not looked at", found)

    def test_damage_is_told_with_its_place(self):
        daemon = self.daemon()
        self.learn(daemon, self.table("a.tsv", 600, 1))
        daemon.stop()
        database = sqlite3.connect(self.state)
        (entry,) = database.execute(f"SELECT entry FROM journal WHERE {ENTRY} = 2").fetchone()
        database.execute(f"UPDATE journal SET entry = ? WHERE {ENTRY} = 2",
                         (entry[:40] + b"?" + entry[41:],))
        database.execute(f"DELETE FROM journal WHERE {ENTRY} = 4")
        database.execute("UPDATE snapshot_part SET bytes = substr(bytes, 1, 1000)")
        database.commit()
        database.close()
        done = attempt("state", "verify", self.state)
        self.assertEqual(done.returncode, 1)
        told = done.stdout.decode()
        for part in ("the snapshot at 600 pairs is damaged: found 1000 bytes",
                     "entry 2 of the journal is damaged",
                     "found entry 5 of the journal, expected 4"):
            self.assertIn(part, told)
        self.assertIn("found 3 problems, expected none", done.stderr.decode())

    def test_a_copy_goes_on_as_the_original(self):
        daemon = self.daemon()
        self.learn(daemon, self.table("a.tsv", 600, 1))
        copy = self.folder / "copy.db"
        run("state", "backup", self.state, copy)
        self.assertIn("expected none", complaint("state", "backup", self.state, copy))
        scores = self.scores(daemon)
        self.assertEqual(self.scores(self.daemon(state=copy)), scores)
        self.assertEqual([], [str(file) for file in self.folder.glob("*part*")])
        out = self.folder / "out.phsic"
        run("state", "export", self.state, "-o", out)
        run("state", "rebuild", self.state, "-o", self.folder / "new.db")
        # What people wrote is in them.
        for file in (copy, out, self.folder / "new.db"):
            self.assertEqual(file.stat().st_mode & 0o007, 0, file)

    def test_what_is_no_state_is_refused(self):
        for verb in ("info", "verify"):
            self.assertIn("found no such file", complaint("state", verb, self.folder / "none.db"))
            other = self.file("text.db", "something else\n" * 100)
            self.assertIn("not a database", complaint("state", verb, other))
        complaint("state", expect=2)
        complaint("state", "mend", self.state, expect=2)


class Moving(Stateful):
    def exported(self, name, count, seed, *settings):
        """A portable file of a daemon that has learned so much, and its scores."""
        state = self.folder / f"{name}.db"
        daemon = self.daemon(*settings, state=state)
        self.learn(daemon, self.table(f"{name}.tsv", count, seed))
        scores = self.scores(daemon)
        out = self.folder / f"{name}.phsic"
        run("state", "export", state, "--trust", "-o", out)
        daemon.stop()
        return out, scores

    def test_a_stream_moves_to_another_file_and_goes_on(self):
        out, scores = self.exported("a", 700, 1)
        found = run("state", "import", self.state, out)
        self.assertIn("stream default, 700 pairs", found)
        daemon = self.daemon()
        self.assertEqual(self.scores(daemon), scores)
        (stream,) = self.info()["streams"]
        self.assertEqual(stream["pairs"], 700)
        more = self.table("more.tsv", 300, 5)
        self.learn(daemon, more)
        (stream,) = self.info()["streams"]
        self.assertEqual(stream["pairs"], 1000)
        self.assertEqual(stream["journal"]["first"], 1)
        # Its journal lacks what was learned before.
        self.assertFalse(stream["journal"]["whole"])
        scores = self.scores(daemon)
        daemon.process.kill()
        daemon.process.wait(timeout=60)
        self.assertEqual(self.scores(self.daemon()), scores)
        found = complaint("state", "rebuild", self.state, "-o", self.folder / "new.db")
        self.assertIn("goes on from what was learned elsewhere", found)

    def test_a_running_daemon_keeps_importers_out(self):
        out, _ = self.exported("a", 300, 1)
        self.daemon()
        self.assertIn("found it in use", complaint("state", "import", self.state, out))

    def test_nothing_is_replaced_unless_wanted(self):
        out, _ = self.exported("a", 300, 1)
        run("state", "import", self.state, out)
        self.assertIn("--as NAME", complaint("state", "import", self.state, out))
        run("state", "import", self.state, out, "--as", "second")
        names = [stream["name"] for stream in self.info()["streams"]]
        self.assertEqual(names, ["default", "second"])
        complaint("state", "import", self.state, out, "--as", "no/name")
        again = self.folder / "again.phsic"
        found = complaint("state", "export", self.state, "-o", again)
        self.assertIn("found 2 streams, expected one of default, second (--stream NAME)", found)
        found = complaint("state", "export", self.state, "--stream", "third", "-o", again)
        self.assertIn("found no stream third", found)
        run("state", "export", self.state, "--stream", "second", "-o", again)
        found = complaint("state", "export", self.state, "--stream", "default", "-o", again)
        self.assertIn("found a file", found)
        run("state", "export", self.state, "--stream", "default", "-o", again, "--force")

    def test_what_is_no_portable_file_is_refused(self):
        out, _ = self.exported("a", 300, 1)
        whole = out.read_bytes()
        for bytes_ in (b"", b"something else", whole[:-1], whole + b"x",
                       whole[:1000] + b"?" + whole[1001:]):
            bad = self.file("bad.phsic", bytes_)
            self.assertIn("bad.phsic", complaint("state", "import", self.state, bad))
            self.assertFalse(self.state.exists())

    def test_a_library_is_not_loaded_because_a_file_says_so(self):
        encoder = Path(PHSIC).parent.parent / "lib" / "phsic" / "encoders" / "hashing.so"
        out, _ = self.exported("a", 300, 1, f"streams.default.encoder={encoder}:dim=64")
        other, _ = self.exported("b", 300, 2, f"streams.default.encoder={encoder}:dim=64")
        found = complaint("state", "import", self.state, out)
        self.assertIn("--trust", found)
        run("state", "import", self.state, out, "--trust")
        again, new = self.folder / "again.phsic", self.folder / "new.db"
        both = self.folder / "both.phsic"
        state = self.folder / "a.db"
        for verb in (["verify", "--replay", state], ["export", state, "-o", again],
                     ["rebuild", state, "-o", new], ["merge", out, other, "-o", both]):
            done = attempt("state", *verb)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--trust", (done.stdout + done.stderr).decode())
            run("state", *verb, "--trust")
        run("state", "verify", state)  # opens no stream
        # What the user names is the user's.
        for number, options in enumerate((["--encoder", f"{encoder}:dim=64"],
                                          ["--encoder", "hashing:dim=32"])):
            run("state", "rebuild", state, *options, "-o", self.folder / f"own{number}.db")

    def test_streams_that_learned_apart_become_one(self):
        exact = ["streams.default.reservoir=4096", "streams.default.estimator=gaussian-pmi",
                 "streams.default.ridge=1"]
        a, _ = self.exported("a", 700, 1, *exact)
        b, _ = self.exported("b", 500, 2, *exact, "streams.default.seed=9")
        both = self.folder / "both.phsic"
        found = run("state", "merge", a, b, "-o", both, "--as", "default")
        self.assertIn("1200 pairs", found)
        run("state", "import", self.state, both)
        merged = self.daemon(*exact)
        one = self.daemon(*exact, state=self.folder / "one.db")
        self.learn(one, self.folder / "a.tsv")
        self.learn(one, self.folder / "b.tsv")
        for daemon in (merged, one):
            self.assertRegex(run("refresh", "--all", *daemon.connect), r"pairs +1200\n")
        scores = self.scores(one)
        largest = max(map(abs, scores))
        self.assert_close(self.scores(merged), scores, 1e-3 * largest)

    def test_what_cannot_be_merged_is_refused(self):
        a, _ = self.exported("a", 300, 1)
        b, _ = self.exported("b", 300, 2, "streams.default.half-life=1000")
        out = self.folder / "both.phsic"
        found = complaint("state", "merge", a, b, "-o", out)
        self.assertIn("forgetting: found half-life of 1000 pairs, expected never", found)
        self.assertIn("earlier file", complaint("state", "merge", a, a, "-o", out))
        complaint("state", "merge", a, "-o", out, expect=2)
        self.assertFalse(out.exists())


class Rebuilding(Stateful):
    def test_the_same_configuration_gives_the_same_stream(self):
        daemon = self.daemon("streams.default.half-life=500")
        self.learn(daemon, self.table("a.tsv", 900, 1))
        run("refresh", *daemon.connect)
        scores = self.scores(daemon)
        new = self.folder / "new.db"
        found = run("state", "rebuild", self.state, "-o", new)
        self.assertIn("900 pairs, as they were learned", found)
        rebuilt = self.daemon("streams.default.half-life=500", state=new)
        self.assertEqual(self.scores(rebuilt), scores)
        self.assertIn("expected none", complaint("state", "rebuild", self.state, "-o", new))
        self.assertEqual(self.info(new)["streams"][0]["journal"]["entries"], 0)

    def test_another_encoder_learns_the_pairs_again(self):
        daemon = self.daemon()
        self.learn(daemon, self.table("a.tsv", 900, 1))
        new = self.folder / "new.db"
        run("state", "rebuild", self.state, "--encoder", "hashing:dim=64", "-o", new,
            "--keep-journal")
        told = self.info(new)["streams"][0]
        self.assertTrue(told["journal"]["whole"])
        self.assertEqual(told["pairs"], 900)
        self.assertEqual(told["options"]["encoder"], "hashing:dim=64")
        run("state", "verify", "--replay", new)
        # A daemon that learned them with that encoder from the start has the same.
        other = self.daemon("streams.default.encoder=hashing:dim=64", state=self.folder / "o.db")
        self.learn(other, self.folder / "a.tsv")
        rebuilt = self.daemon("streams.default.encoder=hashing:dim=64", state=new)
        scores = self.scores(other)
        self.assert_close(self.scores(rebuilt), scores, 1e-4 * max(map(abs, scores)))
        # What was rebuilt with its journal can be rebuilt again.
        again = self.folder / "again.db"
        found = run("state", "rebuild", new, "-o", again)
        self.assertIn("as they were learned", found)

    def test_a_table_can_be_learned_instead(self):
        daemon = self.daemon(keep=False)
        self.learn(daemon, self.table("a.tsv", 300, 1))
        daemon.stop()
        table = self.file("timed.tsv", tsv(
            (str(1000 + i), *pair) for i, pair in enumerate(pairs(900, 3))))
        flags = ["--half-life", "100s", "--x", "2", "--y", "3"]
        new = self.folder / "new.db"
        found = complaint("state", "rebuild", self.state, "--from", table, *flags, "-o", new)
        self.assertIn("expected --time COL", found)
        run("state", "rebuild", self.state, "--from", table, "--time", "1", *flags, "-o", new)
        self.assertEqual(self.info(new)["streams"][0]["pairs"], 900)
        self.scores(self.daemon("streams.default.half-life=100s", state=new))

    def test_a_configuration_says_what_becomes_of_it(self):
        daemon = self.daemon("streams.default.half-life=500")
        self.learn(daemon, self.table("a.tsv", 600, 1))
        daemon.stop()
        config = self.file("phsicd.yaml", """
service: tcp://127.0.0.1:7470
defaults: {encoder: "hashing:dim=32", queue: 100}
streams:
  default: {kernel: "gaussian:sigma=1", pivots: 20, refresh-after: never}
  other: {}
""")
        new = self.folder / "new.db"
        run("state", "rebuild", self.state, "--config", config, "-o", new)
        identity = self.info(new)["streams"][0]["identity"]
        self.assertIn("dim=32", identity["x encoder"])
        self.assertEqual(identity["x kernel"], "gaussian:sigma=1")
        self.assertEqual(identity["forgetting"], "never")
        # A daemon with such a stream goes on with it.
        self.daemon("streams.default.encoder=hashing:dim=32", "streams.default.pivots=20",
                    "streams.default.kernel=gaussian:sigma=1", state=new)
        yaml = self.file("stream.yaml", "kernel: linear\n")
        newer = self.folder / "newer.db"
        run("state", "rebuild", self.state, "--config", yaml, "--seed", "4", "-o", newer)
        identity = self.info(newer)["streams"][0]["identity"]
        self.assertEqual(identity["x kernel"], "linear")
        self.assertEqual(identity["forgetting"], "half-life of 500 pairs")
        self.assertEqual(identity["seed"], "4")
        nobody = self.file("nobody.yaml", "streams: {other: {}}\n")
        found = complaint("state", "rebuild", self.state, "--config", nobody, "-o",
                          self.folder / "newest.db")
        self.assertIn("found no streams.default", found)

    def test_nothing_is_left_of_what_failed(self):
        daemon = self.daemon()
        self.learn(daemon, self.table("a.tsv", 300, 1))
        daemon.stop()
        database = sqlite3.connect(self.state)
        database.execute(f"UPDATE journal SET entry = substr(entry, 1, 50) WHERE {ENTRY} = 2")
        database.commit()
        database.close()
        before = sorted(self.folder.iterdir())
        found = complaint("state", "rebuild", self.state, "-o", self.folder / "new.db")
        self.assertIn("entry 2 of the journal of stream default", found)
        after = [file for file in sorted(self.folder.iterdir())
                 if not file.name.endswith(("-wal", "-shm"))]
        self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main()
