"""A few rounds of what `make torture` does for as long as one likes."""

import unittest

from torture import torture


class Torture(unittest.TestCase):
    def test_what_was_promised_is_there_once_whenever_the_daemon_ends(self):
        print(torture(25, 1))

    def test_what_was_promised_is_there_once_however_the_disk_fails(self):
        print(torture(3, 2, faults=True))


if __name__ == "__main__":
    unittest.main()
