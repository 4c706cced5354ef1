"""What comes before a daemon is ready: checks, locks, recovery, and what others hear of it."""

import os
import unittest

from phsicd import SMALL, Case, pairs_of

PAIRS = pairs_of(300, 31)


class Locks(Case):
    def beside(self, daemon, ending):
        return daemon.state.with_name(daemon.state.name + ending)

    def assert_kept_out(self, daemon, second):
        second.start(waits=False)
        self.assertEqual(second.wait(), 1)
        self.assertIn("in use", second.log())
        self.assertIs(daemon.ask("ping")["keeping"], True)

    def second(self, daemon):
        """One that wants the same state, and has ended."""
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


if __name__ == "__main__":
    unittest.main()
