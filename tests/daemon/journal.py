"""Reads the journals of a state file as docs/state.md describes them."""

import ctypes
import json
import sqlite3
import struct
from contextlib import closing
from types import SimpleNamespace

TEXTS, VECTORS, BEGUN, ADOPTED, ABANDONED, EVERY, CUT = range(7)

KEEP, DROP, UNDECIDED = range(3)

XXHASH = ctypes.CDLL("libxxhash.so.0")


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_128bits.restype = Hash128
for function in (XXHASH.XXH3_64bits, XXHASH.XXH3_128bits):
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t)


def id_of(value):
    """The id of a pair as it is in the journal."""
    text = json.dumps(value).encode()
    found = XXHASH.XXH3_128bits(text, len(text))
    return found.low, found.high


class Payload:
    """The inside of an archive, read from the front."""

    def __init__(self, archive, kind):
        magic, found, version, size = struct.unpack_from("<8s4sIQ", archive)
        if magic != b"PHSIC\r\n\0" or found != kind or size + 32 != len(archive):
            raise AssertionError(f"not an archive {kind}: {archive[:24]!r}, {len(archive)} bytes")
        self.version = version
        self.rest = memoryview(archive)[24:-8]
        found = XXHASH.XXH3_64bits(archive, len(archive) - 8)
        if found != int.from_bytes(archive[-8:], "little"):
            raise AssertionError("the sum of an archive is wrong")

    def numbers(self, form):
        """The next numbers, one for each letter of `form`."""
        found = struct.unpack_from("<" + form, self.rest)
        self.rest = self.rest[struct.calcsize("<" + form):]
        return found

    def number(self, form):
        return self.numbers(form)[0]

    def array(self, form):
        return self.numbers(f"{self.number('Q')}{form}")


def entry(archive):
    """stream, number, before (pairs), kind, pairs: tuples of x, y, time and id, decisions about
    them: tuples of verdict and reason, and rejected: tuples of place, verdict and reason."""
    payload = Payload(archive, b"ENTR")
    stream, number, before, kind = payload.numbers("IQQB")
    found = SimpleNamespace(stream=stream, number=number, before=before, kind=kind, pairs=[],
                            decisions=[], rejected=[])
    if kind in (TEXTS, VECTORS):
        times = payload.array("d")
        count = len(times)
        halves = payload.numbers(f"{2 * count}Q") if payload.number("B") else (0,) * 2 * count
        ids = [pair if any(pair) else None for pair in zip(halves[::2], halves[1::2])]
        if kind == TEXTS:
            ends = payload.array("Q")
            content = bytes(payload.array("B"))
            items = [content[a:b].decode() for a, b in zip((0, *ends), ends)]
            sides = items[::2], items[1::2]
        else:
            dims = payload.numbers("II")
            sides = [[values[i * dim:(i + 1) * dim] for i in range(count)]
                     for dim, values in ((dim, payload.array("f")) for dim in dims)]
        found.pairs = list(zip(*sides, times, ids))
        found.decisions = [(KEEP, 0)] * count
        if payload.version >= 4:
            has_decisions = payload.number("B")
            codes = payload.array("B")
            if has_decisions:
                found.decisions = list(zip(codes[::2], codes[1::2], strict=True))
            places = payload.array("Q")
            codes = payload.array("B")
            found.rejected = list(zip(places, codes[::2], codes[1::2], strict=True))
            if len(found.decisions) != count or len(payload.rest):
                raise AssertionError(f"entry {number}: {len(payload.rest)} bytes are left")
    return found


def read(file, stream):
    """The entries of a stream by name, from the first that was kept on. They follow each other."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        number, = database.execute("select id from stream where name = ?", (stream,)).fetchone()
        rows = database.execute("select key, pairs, entry from journal where key >> 44 = ? "
                                "order by key", (number,)).fetchall()
    entries = []
    for key, pairs, archive in rows:
        found = entry(archive)
        last = entries[-1] if entries else SimpleNamespace(
            number=found.number - 1, before=found.before, pairs=())
        expected = (number, key & (1 << 44) - 1, pairs, last.number + 1,
                    last.before + len(last.pairs))
        if (found.stream, found.number, len(found.pairs), found.number, found.before) != expected:
            raise AssertionError(f"{stream}: found {found}, expected {expected}")
        entries.append(found)
    return entries


def pairs(file, stream):
    """All pairs of a journal that was kept whole, in their order: (x, y, time, id)."""
    entries = read(file, stream)
    if entries and (entries[0].number, entries[0].before) != (1, 0):
        raise AssertionError(f"{stream}: the journal begins with entry {entries[0].number}")
    return [pair for one in entries for pair in one.pairs]
