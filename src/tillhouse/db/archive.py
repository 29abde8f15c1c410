"""The file of a backup: compressed, then encrypted and authenticated, from first byte to last.

It begins with a line that names the format and a line that says which key opens it. Frames follow,
each a length and so many bytes of AES-256-GCM. A frame is bound to the lines before it, to its
number and to whether it is the last, so a file that was cut, altered or spliced doesn't open. The
frames hold one zlib stream of records: a kind, a length, and so many bytes.
"""

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Self

import msgspec
from argon2.low_level import Type, hash_secret_raw

from tillhouse.kit.secrets import SealBroken, derive, open_frame, open_sealed, seal, seal_frame

FORMAT = b"tillhouse backup 1\n"
# The cost of one guess at a passphrase. The format's number stands for these, so that no file can
# ask for more.
_PASSES, _MEMORY_KIB, _LANES = 3, 64 * 1024, 1

_FRAME_BYTES = 256 * 1024
_PIECE_BYTES = 1024 * 1024
_TAG_BYTES = 16
_LONGEST_HEAD = 4096
_SALT_BYTES = 32
# zlib's fastest: the database, not the processor, should set the pace.
_LEVEL = 1

Kind = Literal["manifest", "rows", "end of table", "end"]
_KINDS: tuple[Kind, ...] = ("manifest", "rows", "end of table", "end")


class ArchiveError(Exception):
    """A backup that can't be read or written; the sentence says why and what to do."""


class Passphrase(msgspec.Struct, frozen=True):
    """Opens a file anywhere."""

    text: str

    def key(self, salt: bytes) -> bytes:
        """The key of one file."""
        return hash_secret_raw(self.text.encode(), salt, _PASSES, _MEMORY_KIB, _LANES, 32, Type.ID)


class MasterKey(msgspec.Struct, frozen=True):
    """Opens a file of this installation only."""

    version: int
    secret: bytes

    def key(self, salt: bytes) -> bytes:
        """The key of one file."""
        return derive(self.secret, "backup " + salt.hex())


class Record(NamedTuple):
    """A piece of the file's content."""

    kind: Kind
    body: bytes


class _Head(msgspec.Struct, frozen=True):
    salt: bytes
    # Sealed with the key, so that a wrong passphrase is told from an altered file.
    proof: bytes
    # None when a passphrase opens it.
    master_version: int | None


class ArchiveWriter:
    """Writes records into a new file, which appears under its name when it is complete."""

    def __init__(self, path: Path, opener: Passphrase | MasterKey) -> None:
        self._path = path
        self._draft = draft_of(path)
        if path.exists():
            raise _taken(path)
        salt = os.urandom(_SALT_BYTES)
        self._key = opener.key(salt)
        version = opener.version if isinstance(opener, MasterKey) else None
        head = _Head(salt, seal(self._key, b"", FORMAT), version)
        self._bound = FORMAT + msgspec.json.encode(head) + b"\n"
        self._zlib = zlib.compressobj(_LEVEL)
        self._plain = bytearray()
        self._frames = 0
        self.bytes_written = len(self._bound)
        self._file = os.fdopen(self._made(), "wb")
        self._file.write(self._bound)

    def __enter__(self) -> Self:
        """Write it; an incomplete file is removed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove an incomplete file."""
        try:
            # The rest of the buffer fails to be written once more.
            with suppress(OSError):
                self._file.close()
        finally:
            self._draft.unlink(missing_ok=True)

    def add(self, kind: Kind, body: bytes) -> None:
        """Append a record."""
        head = struct.pack(">BI", _KINDS.index(kind), len(body))
        self._put(self._zlib.compress(head))
        self._put(self._zlib.compress(body))

    def complete(self) -> None:
        """Bring the file to the disk and give it its name, unless that is taken."""
        self._put(self._zlib.flush())
        self._put_frame(bytes(self._plain), is_last=True)
        with self._writing():
            self._file.flush()
            os.fsync(self._file.fileno())
        _give_name(self._draft, self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _made(self) -> int:
        try:
            return os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise ArchiveError(
                f"{self._draft} was left by a backup that was killed: remove it, and try again."
            ) from None

    def _put(self, packed: bytes) -> None:
        self._plain += packed
        while len(self._plain) > _FRAME_BYTES:
            self._put_frame(bytes(self._plain[:_FRAME_BYTES]), is_last=False)
            del self._plain[:_FRAME_BYTES]

    def _put_frame(self, plain: bytes, *, is_last: bool) -> None:
        sealed = seal_frame(self._key, plain, self._bound, self._frames, is_last=is_last)
        with self._writing():
            self._file.write(struct.pack(">I", len(sealed)))
            self._file.write(sealed)
        self._frames += 1
        self.bytes_written += 4 + len(sealed)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ArchiveError(
                f"{self._path} can't be written ({error.strerror}), and nothing of it was left "
                "there: make room on its disk, or name a file on another."
            ) from error


class ArchiveReader:
    """Reads the records of a file; `check` first, so that nothing begins with half a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = b""
        with path.open("rb") as file:
            self._bound, self._head = _head(file, path)
        self.size = path.stat().st_size
        self.bytes_read = 0

    @property
    def master_version(self) -> int | None:
        """The version of the master key that opens it; None when a passphrase does."""
        return self._head.master_version

    def unlock(self, opener: Passphrase | MasterKey) -> None:
        """Take the key, or refuse a wrong one."""
        key = opener.key(self._head.salt)
        try:
            open_sealed(key, self._head.proof, FORMAT)
        except SealBroken:
            what = "passphrase" if isinstance(opener, Passphrase) else "master key"
            raise ArchiveError(f"That is not the {what} of {self.path}: try again.") from None
        self._key = key

    def check(self, on_frame: Callable[[], None] = lambda: None) -> None:
        """Read all of it, and refuse a file that isn't as it was written."""
        for _ in self._opened_frames():
            on_frame()

    def records(self) -> Iterator[Record]:
        """Everything that was written, in order; long bodies come as they were added."""
        plain = self._inflated()
        held = bytearray()
        for piece in plain:
            held += piece
            at = 0
            while len(held) - at >= 5:
                kind, size = struct.unpack_from(">BI", held, at)
                if len(held) - at - 5 < size:
                    break
                yield Record(_KINDS[kind], bytes(held[at + 5 : at + 5 + size]))
                at += 5 + size
            del held[:at]

    def _inflated(self) -> Iterator[bytes]:
        inflate = zlib.decompressobj()
        for frame in self._opened_frames():
            rest = frame
            while rest:
                yield inflate.decompress(rest, _PIECE_BYTES)
                rest = inflate.unconsumed_tail
        yield inflate.flush()

    def _opened_frames(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(len(self._bound))
            sealed, number = _frame(file), 0
            while sealed is not None:
                following = _frame(file)
                try:
                    yield open_frame(
                        self._key, sealed, self._bound, number, is_last=following is None
                    )
                except SealBroken:
                    raise self._not_whole() from None
                self.bytes_read = file.tell()
                sealed, number = following, number + 1
            if number == 0:
                raise self._not_whole()

    def _not_whole(self) -> ArchiveError:
        return ArchiveError(
            f"{self.path} was cut short or altered since it was written, so nothing of it is "
            "restored: take another copy of it, or an older backup."
        )


def draft_of(path: Path) -> Path:
    """The name of a file that this process has not completed."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _head(file: BinaryIO, path: Path) -> tuple[bytes, _Head]:
    beginning = file.read(len(FORMAT))
    if beginning != FORMAT:
        told = "is made by a newer Tillhouse" if beginning[:16] == FORMAT[:16] else "is no backup"
        raise ArchiveError(f"{path} {told}, or its first line was altered: give another file.")
    line = file.readline(_LONGEST_HEAD)
    try:
        return beginning + line, msgspec.json.decode(line, type=_Head)
    except msgspec.DecodeError:
        raise ArchiveError(f"The head of {path} was altered: take another copy of it.") from None


def _frame(file: BinaryIO) -> bytes | None:
    """The next frame as it stands in the file; a part of one doesn't open."""
    head = file.read(4)
    if not head:
        return None
    size = int.from_bytes(head, "big")
    return file.read(size) if size <= _FRAME_BYTES + _TAG_BYTES else head


def _give_name(draft: Path, path: Path) -> None:
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise _taken(path) from None
    except OSError:
        # A file system without hard links, such as that of most USB sticks.
        if path.exists():
            raise _taken(path) from None
        draft.rename(path)


def _taken(path: Path) -> ArchiveError:
    return ArchiveError(f"{path} exists, and no backup is overwritten: give another name.")
