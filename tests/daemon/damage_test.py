"""State that does not fit, is damaged, or is none of ours."""

import os
import signal
import sqlite3
import tempfile
import time
import unittest
from contextlib import closing
from pathlib import Path

from phsicd import SMALL, Case, pairs_of

# Models come on request alone, so that what is in the journal is what the test has sent.
QUIET = {**SMALL, "refresh": 10**6}
PAIRS = pairs_of(600, 61)


class Identity(Case):
    def learned(self, **streams):
        """A daemon that has learned something, and has ended."""
        daemon = self.daemon(streams, state=True)
        for name in streams:
            daemon.own.learn(PAIRS, stream=name)
        daemon.stop()
        return daemon

    def assert_refused(self, daemon, *words):
        said = daemon.refuses()
        for word in (*words, str(daemon.state), "--fresh", "phsic state rebuild"):
            self.assertIn(word, said)

    def test_state_of_another_encoder_is_refused_and_both_are_named(self):
        daemon = self.learned(chat={**QUIET, "encoder": "hashing:dim=128"}, other=QUIET)
        daemon.config["streams"]["chat"] = {**QUIET, "encoder": "hashing:dim=64"}
        self.assert_refused(daemon, "chat", "hashing", "128", "64")
        # With the old configuration everything is there.
        daemon.config["streams"]["chat"] = QUIET
        daemon.start()
        self.assertEqual(daemon.stats("chat")["pairs"], len(PAIRS))

    def test_whatever_pairs_are_learned_with_must_stay(self):
        daemon = self.learned(chat=QUIET)
        for change, words in (({"kernel": "linear"}, ("cosine", "linear")),
                              ({"y-kernel": "gaussian:sigma=2"}, ("cosine", "gaussian")),
                              ({"half-life": 77}, ("half-life", "77")),
                              ({"window": "77s"}, ("window", "77")),
                              ({"estimator": "pmi"}, ("pmi",)),
                              ({"seed": 5}, ("seed", "5"))):
            with self.subTest(change=change):
                daemon.config["streams"]["chat"] = {**QUIET, **change}
                self.assert_refused(daemon, "chat", *words)

    def test_a_model_file_that_has_changed_is_noticed(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        words = Path(folder.name) / "words.vec"
        words.write_text("2 2\nriver 1 2\nstone 3 4\n")
        daemon = self.learned(chat={"encoder": f"wordvec:file={words}"})
        words.write_text("2 2\nriver 1 2\nstone 3 5\n")
        self.assert_refused(daemon, "chat", "wordvec")

    def test_how_scores_are_made_and_served_may_change(self):
        daemon = self.learned(chat=QUIET)
        for change in ({"estimator": "phsic"}, {"rank": 3}, {"ridge": 0.5}, {"centered": False},
                       {"refresh": 50}, {"workers": 2, "p": 0.5, "id-window": 3}):
            with self.subTest(change=change):
                daemon.config["streams"]["chat"] = {**QUIET, **change}
                daemon.start()
                self.assertEqual(daemon.stats("chat")["pairs"], len(PAIRS))
                model = daemon.ask("refresh", all=True)
                if "estimator" in change:
                    self.assertEqual(model["estimator"], "phsic")
                daemon.stop()

    def test_a_fresh_beginning_keeps_the_old_file_and_what_still_fits(self):
        daemon = self.learned(chat=QUIET, other=QUIET)
        for number, dim in enumerate((64, 32), 1):
            daemon.config["streams"]["chat"] = {**QUIET, "encoder": f"hashing:dim={dim}"}
            daemon.start("--fresh")
            self.assertEqual(daemon.stats("chat")["pairs"], 0)
            self.assertEqual(daemon.stats("other")["pairs"], len(PAIRS))
            old = daemon.state.with_name(f"{daemon.state.name}.old-{number}")
            self.assertTrue(old.exists())
            self.assertEqual(daemon.stop(), 0)
            daemon.start()  # as ever
            daemon.own.learn(PAIRS[:10], stream="chat")
            self.assertEqual(daemon.stats("other")["pairs"], len(PAIRS))
            daemon.kill()
        # The first of the old files has everything.
        old = daemon.state.with_name(f"{daemon.state.name}.old-1")
        again = self.daemon({"chat": QUIET, "other": QUIET}, state=old)
        self.assertEqual(again.stats("chat")["pairs"], len(PAIRS))


def flipped(blob):
    middle = len(blob) // 2
    return blob[:middle] + bytes([blob[middle] ^ 0x10]) + blob[middle + 1:]


class Damage(Case):
    def old_file(self, daemon, number=1):
        """Where the damaged file is kept."""
        return self.beside(daemon, f".old-{number}")

    def beside(self, daemon, ending):
        return daemon.state.with_name(daemon.state.name + ending)

    def learned(self, snapshots=(), **settings):
        """A daemon that has learned PAIRS, ten at once, and was killed; and its last scores."""
        daemon = self.daemon({"a": QUIET}, state=True, **settings)
        for start in range(0, len(PAIRS), 10):
            daemon.own.learn(PAIRS[start:start + 10])
            if start in snapshots:
                daemon.ask("snapshot")
        daemon.ask("refresh", all=True)
        scores = daemon.ask("score", pairs=PAIRS[:50])
        daemon.settle()
        daemon.kill()
        return daemon, scores

    def assert_dies_at_some_changes(self, daemon, env, between=lambda: None):
        """Starts it again and again. Each time it dies at a later change of its files, until it
        makes so few that it does not."""
        change = deaths = 0
        while True:
            change += 1 + change // 4
            daemon.env = {**env, "FAULTY_KILL_AT": str(change)}
            daemon.start(waits=False)
            while daemon.process.poll() is None and "ready" not in daemon.log():
                time.sleep(0.005)
            if daemon.process.poll() is None:
                break
            self.assertEqual(daemon.process.returncode, -signal.SIGKILL)
            deaths += 1
            between()
        daemon.kill()
        self.assertGreater(deaths, 4)

    def alter(self, daemon, statement, *arguments):
        with closing(sqlite3.connect(daemon.state)) as file:
            file.create_function("flipped", 1, flipped)
            with file:
                self.assertGreater(file.execute(statement, arguments).rowcount, 0)

    def assert_survives(self, daemon, pairs):
        """The daemon goes on from where it is, and the damage is over."""
        daemon.own.learn(PAIRS[:20])
        daemon.kill()
        daemon.start()
        stats = daemon.stats("a")
        self.assertEqual((stats["pairs"], stats["lost"]), (pairs + 20, 0))
        self.assertFalse(self.old_file(daemon, 2).exists())

    def test_a_damaged_snapshot_costs_nothing(self):
        daemon, scores = self.learned(snapshots=(200, 400))
        self.alter(daemon, "update snapshot_part set bytes = flipped(bytes) "
                           "where key >> 20 = (select max(id) from snapshot)")
        daemon.start()
        self.assertRegex(daemon.log(), "(?m)^.*(warning|error).*snapshot.*damaged")
        self.assertEqual(daemon.ask("score", pairs=PAIRS[:50]), scores)
        stats = daemon.stats("a")
        self.assertEqual((stats["pairs"], stats["lost"]), (len(PAIRS), 0))
        self.assertTrue(self.old_file(daemon).exists())
        self.assert_survives(daemon, len(PAIRS))

    def test_a_snapshot_that_is_not_whole_costs_nothing(self):
        daemon, scores = self.learned(snapshots=(200, 400))
        self.alter(daemon, "delete from snapshot_part "
                           "where key >> 20 = (select max(id) from snapshot)")
        daemon.start()
        self.assertEqual(daemon.ask("score", pairs=PAIRS[:50]), scores)
        self.assertTrue(self.old_file(daemon).exists())

    def test_all_snapshots_damaged_cost_nothing_when_the_journal_was_kept(self):
        daemon, scores = self.learned(snapshots=(200, 400), journal="keep")
        self.alter(daemon, "update snapshot_part set bytes = flipped(bytes)")
        daemon.start()
        self.assertEqual(daemon.ask("score", pairs=PAIRS[:50]), scores)
        self.assertEqual(daemon.stats("a")["lost"], 0)

    def test_pairs_before_a_damaged_entry_are_kept_and_those_lost_are_counted(self):
        for statement in ("update journal set entry = flipped(entry) where key & 0xffff = 21",
                          "delete from journal where key & 0xffff = 21"):
            with self.subTest(statement=statement):
                daemon, _ = self.learned()
                self.alter(daemon, statement)
                daemon.start()
                stats = daemon.stats("a")
                self.assertEqual((stats["pairs"], stats["recovered"], stats["lost"]),
                                 (200, 200, 400))
                self.assertRegex(daemon.log(), "(?m)^.* error .*entry 2[12] of the journal")
                self.assertIn("lost=400", daemon.log())
                self.assertTrue(self.old_file(daemon).exists())
                # The same pairs as one that never had the others.
                daemon.ask("refresh", all=True)
                peaceful = self.daemon({"a": QUIET})
                peaceful.own.learn(PAIRS[:200])
                peaceful.ask("refresh", all=True)
                self.assertEqual(daemon.ask("score", pairs=PAIRS[:50])["scores"],
                                 peaceful.ask("score", pairs=PAIRS[:50])["scores"])
                self.assert_survives(daemon, 200)

    def test_what_is_learned_right_after_damage_is_as_safe_as_ever(self):
        daemon, _ = self.learned()
        self.alter(daemon, "update journal set entry = flipped(entry) where key & 0xffff = 21")
        daemon.start()
        self.assertIs(daemon.ask("learn", pairs=PAIRS[:20])["durable"], True)
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.stats("a")["pairs"], 220)

    def test_a_damaged_log_of_sqlite_is_told_of(self):
        daemon, _ = self.learned()
        log = self.beside(daemon, "-wal")
        content = bytearray(log.read_bytes())
        content[len(content) // 2] ^= 0x10
        log.write_bytes(content)
        daemon.start()
        found = daemon.stats("a")["pairs"]
        self.assertTrue(0 < found < len(PAIRS) and found % 10 == 0, found)
        self.assertRegex(daemon.log(), "(?m)^.*(warning|error).*-wal")
        self.assertEqual(self.old_file(daemon).exists(), True)
        self.assert_survives(daemon, found)

    def test_a_log_that_was_cut_short_is_told_of(self):
        for share in (0.3, 0.999):
            with self.subTest(share=share):
                daemon, _ = self.learned()
                log = self.beside(daemon, "-wal")
                os.truncate(log, int(share * log.stat().st_size))
                daemon.start()
                stats = daemon.stats("a")
                # The last entry of all has no pairs.
                self.assertEqual(stats["pairs"] == len(PAIRS), share > 0.9)
                self.assertEqual(stats["lost"], len(PAIRS) - stats["pairs"])
                self.assertRegex(daemon.log(), "(?m)^.* error .*cut short")
                self.assertTrue(self.old_file(daemon).exists())
                self.assert_survives(daemon, stats["pairs"])

    def test_an_older_copy_is_told_of(self):
        for knows in (True, False):
            with self.subTest(knows=knows):
                daemon = self.daemon({"a": QUIET}, state=True)
                daemon.own.learn(PAIRS[:300])
                daemon.stop()
                copy = daemon.state.read_bytes()
                daemon.start()
                daemon.own.learn(PAIRS[300:])
                daemon.stop()
                daemon.state.write_bytes(copy)
                if not knows:
                    self.beside(daemon, "-lock").unlink()
                daemon.start()
                stats = daemon.stats("a")
                self.assertEqual((stats["pairs"], stats["lost"]), (300, 300 if knows else 0))
                self.assertEqual("is an older copy" in daemon.log(), knows)
                self.assert_survives(daemon, 300)

    def test_a_log_without_its_file_is_not_thrown_away(self):
        daemon, _ = self.learned()
        log = self.beside(daemon, "-wal").read_bytes()
        daemon.state.unlink()
        self.assertIn("log of", daemon.refuses())
        self.assertEqual(self.beside(daemon, "-wal").read_bytes(), log)
        daemon.start("--fresh")
        self.assertEqual(self.beside(daemon, ".old-1-wal").read_bytes(), log)
        self.assert_survives(daemon, 0)

    def test_streams_that_are_not_served_survive_the_damage_of_another(self):
        daemon = self.daemon({"a": QUIET, "b": QUIET}, state=True, journal="keep")
        for name in "ab":
            daemon.own.learn(PAIRS, 10, stream=name)
        scores = daemon.ask("score", stream="b", pairs=PAIRS[:50])
        daemon.ask("snapshot", stream="b")
        daemon.kill()
        self.alter(daemon, "delete from snapshot_part")  # the journal has it all
        self.alter(daemon, "update journal set entry = flipped(entry) "
                           "where key >> 44 = (select id from stream where name = 'a')")
        served = daemon.config["streams"].pop("b")
        daemon.start()
        self.assertEqual(daemon.stats("a")["pairs"], 0)
        self.assertTrue(self.old_file(daemon).exists())
        daemon.stop()
        daemon.config["streams"]["b"] = served
        daemon.start()
        stats = daemon.stats("b")
        self.assertEqual((stats["pairs"], stats["lost"]), (len(PAIRS), 0))
        self.assertEqual(daemon.ask("score", stream="b", pairs=PAIRS[:50]), scores)

    def test_a_daemon_that_fails_or_dies_while_it_writes_a_file_anew_loses_nothing(self):
        daemon, _ = self.learned()
        self.alter(daemon, "update journal set entry = flipped(entry) where key & 0xffff = 21")
        control = daemon.folder / "control"
        calm = daemon.env
        daemon.env = {**calm, "LD_PRELOAD": os.environ["FAULTY_DISK"],
                      "FAULTY_PATH": str(daemon.state.parent), "FAULTY_CONTROL": str(control)}
        before = daemon.state.read_bytes()
        for fault in ("ENOSPC", "FSYNC", "EIO"):
            control.write_text(fault)
            self.assertIn(str(daemon.state), daemon.refuses())
            self.assertEqual(daemon.state.read_bytes(), before)
            self.assertFalse(self.old_file(daemon).exists())
        control.write_text("")
        self.assert_dies_at_some_changes(daemon, daemon.env)
        daemon.env = calm
        daemon.start()
        stats = daemon.stats("a")
        self.assertEqual(stats["pairs"], 200)
        self.assert_survives(daemon, 200)

    def test_a_log_that_ends_in_the_middle_of_a_commit_is_no_damage(self):
        daemon, _ = self.learned()
        log = self.beside(daemon, "-wal")
        with open(log, "ab") as file:
            file.write(bytes(1000))
        daemon.start()
        self.assertEqual(daemon.stats("a")["pairs"], len(PAIRS))
        self.assertFalse(self.old_file(daemon).exists())

    def test_a_file_that_cannot_be_read_is_refused_and_left_alone(self):
        daemon, _ = self.learned()
        daemon.start()
        daemon.stop()
        whole = daemon.state.read_bytes()
        for content in (b"nothing of ours\n" * 1000, whole[:len(whole) // 2], whole[:100],
                        whole[:4096] + bytes(4096) + whole[8192:]):
            daemon.state.write_bytes(content)
            self.assertIn(str(daemon.state), daemon.refuses())
            self.assertEqual(daemon.state.read_bytes(), content)
        daemon.state.write_bytes(whole)
        daemon.start()
        self.assertEqual(daemon.stats("a")["pairs"], len(PAIRS))

    def test_a_database_of_others_or_of_later_days_is_refused(self):
        daemon, _ = self.learned()
        for pragma, found in (("application_id = 77", "0x4d"), ("user_version = 99", "99")):
            with closing(sqlite3.connect(daemon.state)) as file:
                kept = [file.execute(f"pragma {name}").fetchone()[0]
                        for name in ("application_id", "user_version")]
                file.execute(f"pragma {pragma}")
            said = daemon.refuses()
            self.assertIn(str(daemon.state), said)
            self.assertIn(found, said)
            with closing(sqlite3.connect(daemon.state)) as file:
                file.execute(f"pragma application_id = {kept[0]}")
                file.execute(f"pragma user_version = {kept[1]}")
        self.assertEqual(kept, [0x50485343, 2])

    def test_a_daemon_that_dies_while_it_makes_its_file_starts_again(self):
        daemon = self.daemon({"a": QUIET}, state=True)
        daemon.stop()
        calm = daemon.env

        def restart():
            daemon.env = calm
            daemon.start()
            daemon.kill()
            for file in daemon.state.parent.iterdir():
                file.unlink()

        restart()
        self.assert_dies_at_some_changes(daemon, {**calm, "LD_PRELOAD": os.environ["FAULTY_DISK"],
                                                  "FAULTY_PATH": str(daemon.state.parent)}, restart)

    def test_a_file_whose_pairs_are_known_to_be_missing_is_no_beginning(self):
        for content in (None, b""):
            with self.subTest(content=content):
                daemon = self.daemon({"a": QUIET}, state=True)
                daemon.own.learn(PAIRS[:300])
                daemon.stop()
                daemon.state.unlink()
                if content is not None:
                    daemon.state.write_bytes(content)
                said = daemon.refuses()
                for word in (str(daemon.state), "300 pairs", "-lock", "--fresh"):
                    self.assertIn(word, said)
                daemon.start("--fresh")
                self.assertRegex(daemon.log(), "(?m) warning begins anew .*300 pairs")
                self.assertEqual(daemon.stats("a")["pairs"], 0)
                self.assert_survives(daemon, 0)

    def test_an_empty_file_is_a_beginning(self):
        daemon = self.daemon({"a": QUIET}, state=True)
        daemon.stop()
        for file in daemon.state.parent.iterdir():
            file.unlink()
        daemon.state.touch()
        daemon.start()
        self.assertRegex(daemon.log(), "(?m) warning state is empty ")
        self.assertIs(daemon.ask("learn", pairs=PAIRS[:5])["durable"], True)
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.stats("a")["pairs"], 5)


if __name__ == "__main__":
    unittest.main()
