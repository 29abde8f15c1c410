"""QR codes (ISO/IEC 18004): byte mode, error correction M, up to 666 bytes. Pure.

A code is a square of modules, dark ones true. It is drawn as one path, so an image needs no
library, and no third party hears who pays.
"""

import re
from functools import cache
from itertools import pairwise, product

import msgspec

Rows = list[list[bool]]

# By version, from 1: bytes of correction in a block, and how many blocks there are.
_CORRECTION = (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26)
_BLOCKS = (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16)
_RUN = re.compile("0{5,}|1{5,}")
_LIKE_FINDER = re.compile("(?=10111010000|00001011101)")
_QUIET = 4


class _Version(msgspec.Struct, frozen=True):
    number: int

    @property
    def size(self) -> int:
        return 4 * self.number + 17

    @property
    def codewords(self) -> int:
        """All bytes of the code, those of correction too."""
        bits = (16 * self.number + 128) * self.number + 64
        if self.number >= 2:
            count = self.number // 7 + 2
            bits -= (25 * count - 10) * count - 55
        return (bits - (36 if self.number >= 7 else 0)) // 8

    @property
    def data(self) -> int:
        """The bytes that carry data."""
        return self.codewords - _CORRECTION[self.number - 1] * _BLOCKS[self.number - 1]

    @property
    def length_bits(self) -> int:
        return 8 if self.number < 10 else 16

    @property
    def centres(self) -> list[int]:
        """Where the alignment patterns have their centres, on both axes."""
        if self.number == 1:
            return []
        count = self.number // 7 + 2
        step = (self.number * 8 + count * 3 + 5) // (count * 4 - 4) * 2
        return [6, *reversed([self.size - 7 - index * step for index in range(count - 1)])]


def code(text: str) -> Rows:
    """The code of a text, or ValueError when it is too long."""
    data = text.encode()
    version = _fitting(len(data))
    stream = _with_correction(_stream(data, version), version)
    fixed = _fixed(version)
    free = _free(fixed)
    bits = [bool(byte >> shift & 1) for byte in stream for shift in range(7, -1, -1)]
    filled = dict(zip(free, bits, strict=False))
    return min((_masked(fixed, free, filled, mask) for mask in range(8)), key=_penalty)


def svg(text: str, title: str) -> str:
    """The code of a text as an image; the title is plain text without markup."""
    rows = code(text)
    side = len(rows) + 2 * _QUIET
    path = "".join(
        f"M{run.start() + _QUIET} {y + _QUIET}.5h{run.end() - run.start()}"
        for y, row in enumerate(rows)
        for run in re.finditer("1+", _text(row))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" role="img">'
        f"<title>{title}</title>"
        f'<path fill="#fff" d="M0 0h{side}v{side}H0z"/><path stroke="#111" d="{path}"/></svg>'
    )


def _fitting(length: int) -> _Version:
    for number in range(1, len(_BLOCKS) + 1):
        version = _Version(number)
        if 4 + version.length_bits + 8 * length <= 8 * version.data:
            return version
    raise ValueError("the text is too long for a code")


def _stream(data: bytes, version: _Version) -> list[int]:
    bits = f"0100{len(data):0{version.length_bits}b}" + "".join(f"{byte:08b}" for byte in data)
    bits += "0" * min(4, 8 * version.data - len(bits))
    bits += "0" * (-len(bits) % 8)
    stream = [int(bits[start : start + 8], 2) for start in range(0, len(bits), 8)]
    padding = (0xEC, 0x11)
    return stream + [padding[index % 2] for index in range(version.data - len(stream))]


def _with_correction(data: list[int], version: _Version) -> list[int]:
    """Blocks of data with their correction, byte by byte in turn."""
    count, extra = _BLOCKS[version.number - 1], _CORRECTION[version.number - 1]
    short, longer = divmod(version.data, count)
    blocks: list[list[int]] = []
    start = 0
    for index in range(count):
        end = start + short + (index >= count - longer)
        blocks.append(data[start:end])
        start = end
    corrections = [_remainder(block, extra) for block in blocks]
    turns = range(short + 1)
    mixed = [block[turn] for turn in turns for block in blocks if turn < len(block)]
    return mixed + [one[turn] for turn in range(extra) for one in corrections]


def _times(left: int, right: int) -> int:
    """The product in the field of 256 elements."""
    found = 0
    for shift in range(7, -1, -1):
        found = (found << 1) ^ (0x11D * (found >> 7))
        found ^= (right >> shift & 1) * left
    return found


@cache
def _divisor(degree: int) -> tuple[int, ...]:
    found = [0] * (degree - 1) + [1]
    root = 1
    for _ in range(degree):
        found = [
            _times(value, root) ^ (found[index + 1] if index + 1 < degree else 0)
            for index, value in enumerate(found)
        ]
        root = _times(root, 2)
    return tuple(found)


def _remainder(block: list[int], degree: int) -> list[int]:
    found = [0] * degree
    for byte in block:
        factor = byte ^ found[0]
        found = [
            left ^ _times(right, factor)
            for left, right in zip([*found[1:], 0], _divisor(degree), strict=True)
        ]
    return found


@cache
def _fixed(version: _Version) -> dict[tuple[int, int], bool]:
    """The modules (x, y) that every code of a version has; those of the format are light yet."""
    size = version.size
    made: dict[tuple[int, int], bool] = {}
    for index in range(size):
        made[6, index] = made[index, 6] = index % 2 == 0
    for left, top in ((3, 3), (size - 4, 3), (3, size - 4)):
        for dx, dy in product(range(-4, 5), repeat=2):
            x, y = left + dx, top + dy
            if 0 <= x < size and 0 <= y < size:
                made[x, y] = max(abs(dx), abs(dy)) not in (2, 4)
    centres = version.centres
    ends = {(6, 6), (6, size - 7), (size - 7, 6)}
    for centre in set(product(centres, centres)) - ends:
        for dx, dy in product(range(-2, 3), repeat=2):
            made[centre[0] + dx, centre[1] + dy] = max(abs(dx), abs(dy)) != 1
    made |= dict.fromkeys(_format_places(size)[0] + _format_places(size)[1], False)
    made[8, size - 8] = True
    return made | _version_modules(version)


def _version_modules(version: _Version) -> dict[tuple[int, int], bool]:
    if version.number < 7:
        return {}
    rest = version.number
    for _ in range(12):
        rest = (rest << 1) ^ ((rest >> 11) * 0x1F25)
    bits = version.number << 12 | rest
    made: dict[tuple[int, int], bool] = {}
    for index in range(18):
        across, down = version.size - 11 + index % 3, index // 3
        made[across, down] = made[down, across] = bool(bits >> index & 1)
    return made


def _format_places(size: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where the format stands, twice, from its lowest bit on."""
    first = [(8, y) for y in (0, 1, 2, 3, 4, 5, 7, 8)] + [(x, 8) for x in (7, 5, 4, 3, 2, 1, 0)]
    second = [(size - 1 - x, 8) for x in range(8)] + [(8, size - 7 + y) for y in range(7)]
    return first, second


def _free(fixed: dict[tuple[int, int], bool]) -> list[tuple[int, int]]:
    """The modules for data, in the order in which they are filled: two columns at a time."""
    size = max(x for x, _ in fixed) + 1
    found: list[tuple[int, int]] = []
    columns = [right for right in range(size - 1, 0, -2) if right > 6]
    columns += [5, 3, 1]
    for turn, right in enumerate(columns):
        rows = range(size - 1, -1, -1) if turn % 2 == 0 else range(size)
        found += [(x, y) for y in rows for x in (right, right - 1) if (x, y) not in fixed]
    return found


def _masked(
    fixed: dict[tuple[int, int], bool],
    free: list[tuple[int, int]],
    filled: dict[tuple[int, int], bool],
    mask: int,
) -> Rows:
    size = max(x for x, _ in fixed) + 1
    rest = mask
    for _ in range(10):
        rest = (rest << 1) ^ ((rest >> 9) * 0x537)
    bits = (mask << 10 | rest) ^ 0x5412
    data = {(x, y): filled.get((x, y), False) ^ _flips(mask, x, y) for x, y in free}
    form = {
        place: bool(bits >> index & 1)
        for places in _format_places(size)
        for index, place in enumerate(places)
    }
    made = fixed | data | form
    return [[made[x, y] for x in range(size)] for y in range(size)]


def _flips(mask: int, x: int, y: int) -> bool:
    """Whether a mask turns a module over."""
    return (
        (x + y) % 2,
        y % 2,
        x % 3,
        (x + y) % 3,
        (x // 3 + y // 2) % 2,
        x * y % 2 + x * y % 3,
        (x * y % 2 + x * y % 3) % 2,
        ((x + y) % 2 + x * y % 3) % 2,
    )[mask] == 0


def _text(row: list[bool]) -> str:
    return "".join("1" if dark else "0" for dark in row)


def _penalty(rows: Rows) -> int:
    """How badly a code can be read: the mask with the least is taken."""
    lines = [_text(row) for row in rows]
    columns = ["".join(column) for column in zip(*lines, strict=True)]
    found = 0
    for line in (*lines, *columns):
        found += sum(len(run) - 2 for run in _RUN.findall(line))
        found += 40 * len(_LIKE_FINDER.findall(line))
    for upper, lower in pairwise(rows):
        for x in range(len(rows) - 1):
            found += 3 * (upper[x] == upper[x + 1] == lower[x] == lower[x + 1])
    dark = sum(line.count("1") for line in lines)
    return found + 10 * (abs(20 * dark - 10 * len(rows) ** 2) // len(rows) ** 2)
