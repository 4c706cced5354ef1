"""What a disk holds after a power failure.

faulty_disk.cc writes down what a program did to its files (FAULTY_LOG). What came before an fsync of
the same file is there afterwards. Of what came later each part may be there or not, whatever the
order, and a write may be there in part."""

import shutil
from collections import defaultdict
from pathlib import Path

SECTOR = 512


def read_log(path):
    """(letter, file, offset, bytes) of each step. The last may have been cut off by the end."""
    data = Path(path).read_bytes() if Path(path).exists() else b""
    place = 0
    while (end := data.find(b"\n", place)) >= 0:
        letter, name_size, offset, size = data[place:end].split()
        name_end = end + 1 + int(name_size)
        place = name_end + int(size)
        if place > len(data):
            return
        yield letter.decode(), data[end + 1:name_end].decode(), int(offset), data[name_end:place]


def put(content, offset, written):
    content.extend(bytes(max(0, offset + len(written) - len(content))))
    content[offset:offset + len(written)] = written


def survives(step, content, rng):
    """Lets a step that was not synced happen, or a part of it, or nothing."""
    letter, _, offset, written = step
    if rng.random() < 0.5:
        return
    if letter == "t":
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    elif rng.random() < 0.5:
        put(content, offset, written)
    else:
        sectors = range(0, len(written), SECTOR)
        for start in rng.sample(sectors, rng.randint(0, len(sectors))):
            put(content, offset + start, written[start:start + SECTOR])


def fail_power(folder, before, log, rng):
    """Makes `folder` what it is after the failure, from a copy of it `before` and the log since."""
    files = {str(folder / path.name): bytearray(path.read_bytes()) for path in before.iterdir()}
    pending = defaultdict(list)
    for step in read_log(log):
        letter, name, offset, written = step
        if letter == "u":
            files.pop(name, None)
            pending.pop(name, None)
        elif letter != "s":
            pending[name].append(step)
            files.setdefault(name, bytearray())
        else:
            content = files.get(name, bytearray())
            for kept, _, offset, written in pending.pop(name, ()):
                if kept == "t":
                    del content[offset:]
                    content.extend(bytes(offset - len(content)))
                else:
                    put(content, offset, written)
    for name, steps in pending.items():
        for step in steps:
            survives(step, files[name], rng)
    shutil.rmtree(folder)
    folder.mkdir()
    for name, content in files.items():
        if not name.endswith("-shm"):  # is made anew, and was never meant to survive
            Path(name).write_bytes(content)
