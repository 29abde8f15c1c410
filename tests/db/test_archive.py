"""The file of a backup opens as it was written, with its key, and not at all otherwise."""

import os
import resource
from pathlib import Path

import pytest

from tillhouse.db.archive import (
    FORMAT,
    ArchiveError,
    ArchiveReader,
    ArchiveWriter,
    MasterKey,
    Passphrase,
    Record,
)

PASSPHRASE = Passphrase("one two three four")
KEY = MasterKey(3, os.urandom(32))
# Several frames of what can't be compressed, an empty piece, and one that shrinks a thousandfold.
RECORDS = [
    Record("manifest", b"{}"),
    *(Record("rows", os.urandom(100_000)) for _ in range(12)),
    Record("rows", b""),
    Record("rows", b"x" * 5_000_000),
    Record("end of table", b"{}"),
    Record("end", b""),
]


def write(path: Path, opener: Passphrase | MasterKey = KEY) -> bytes:
    """Write the records; the bytes of the file."""
    with ArchiveWriter(path, opener) as archive:
        for record in RECORDS:
            archive.add(*record)
        archive.complete()
    return path.read_bytes()


def refusal(path: Path, content: bytes, opener: Passphrase | MasterKey = KEY) -> str:
    """Why such a file is refused, before a single record is used."""
    path.write_bytes(content)
    with pytest.raises(ArchiveError) as refused:
        opened(path, opener)
    return str(refused.value)


def opened(path: Path, opener: Passphrase | MasterKey) -> ArchiveReader:
    """A file that was read to its end."""
    reader = ArchiveReader(path)
    reader.unlock(opener)
    reader.check()
    return reader


@pytest.mark.parametrize("opener", [PASSPHRASE, KEY])
def test_it_holds_what_was_written(tmp_path: Path, opener: Passphrase | MasterKey) -> None:
    """Every record comes back in its order, and the file is its owner's alone."""
    content = write(path := tmp_path / "a.backup", opener)
    reader = opened(path, opener)
    assert reader.master_version == (None if opener is PASSPHRASE else 3)
    assert reader.bytes_read == reader.size == len(content)
    assert list(reader.records()) == RECORDS
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    """A wrong passphrase is told as such, and so is another master key."""
    content = write(tmp_path / "a", PASSPHRASE)
    said = refusal(tmp_path / "b", content, Passphrase("one two three five"))
    assert "not the passphrase of" in said
    content = write(tmp_path / "c")
    assert "not the master key" in refusal(tmp_path / "d", content, MasterKey(3, bytes(32)))


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    """Of a file that ends too early nothing is used, wherever the end is."""
    content = write(tmp_path / "a")
    body = content.index(b"\n", len(FORMAT)) + 1
    frame = body
    cuts = [0, 5, len(FORMAT), body - 1, body, body + 3]
    while frame < len(content):
        cuts += [frame, frame + 4, frame + 500]
        frame += 4 + int.from_bytes(content[frame : frame + 4], "big")
    assert len(cuts) > 15
    for cut in {*cuts, len(content) - 1}:
        if cut < len(content):
            refusal(tmp_path / "cut", content[:cut])


def test_every_change_is_noticed(tmp_path: Path) -> None:
    """One bit that changed anywhere, a byte more, two frames in each other's place: refused."""
    content = write(tmp_path / "a")
    body = content.index(b"\n", len(FORMAT)) + 1
    step = (len(content) - body) // 40
    for place in [*range(body + 8), *range(body + 8, len(content), step), len(content) - 1]:
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        refusal(tmp_path / "changed", bytes(changed))
    refusal(tmp_path / "longer", content + b"\0")
    size = 4 + int.from_bytes(content[body : body + 4], "big")
    first, second = content[body : body + size], content[body + size : body + 2 * size]
    assert len(first) == len(second)
    swapped = content[:body] + second + first + content[body + 2 * size :]
    assert "cut short or altered" in refusal(tmp_path / "swapped", swapped)
    other = write(tmp_path / "other")
    spliced = content[:body] + other[-len(content) + body :]
    assert "cut short or altered" in refusal(tmp_path / "spliced", spliced)


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    """A name that is taken is refused, also when it was taken meanwhile."""
    taken = tmp_path / "a"
    taken.write_text("mine")
    with pytest.raises(ArchiveError, match="no backup is overwritten"):
        ArchiveWriter(taken, KEY)
    with ArchiveWriter(tmp_path / "b", KEY) as archive:
        (tmp_path / "b").write_text("mine")
        with pytest.raises(ArchiveError, match="no backup is overwritten"):
            archive.complete()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "mine",
        "b": "mine",
    }


def test_what_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    """A backup that fails half-way leaves no file, neither under its name nor another."""

    def give_up() -> None:
        with ArchiveWriter(tmp_path / "a", KEY) as archive:
            archive.add(*RECORDS[1])
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        give_up()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fits", [100, 5_000, 262_000, 262_200, 600_000, 1_048_000])
def test_a_disk_that_fills_up_is_given_back(tmp_path: Path, fits: int) -> None:
    """Whichever write is the first that doesn't fit: one sentence, and no file that stays."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        with ArchiveWriter(tmp_path / "a", KEY) as archive:
            resource.setrlimit(resource.RLIMIT_FSIZE, (fits, before[1]))
            for _ in range(4):
                archive.add("rows", os.urandom(262_144))
            archive.complete()

    try:
        with pytest.raises(ArchiveError, match=r"can't be written .File too large.*make room"):
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
