"""The colours of the viewer: every pair in use is readable, in light and in dark."""

import math
import re

import pytest

from tests.tidy.tree import ROOT

TOKENS = (ROOT / "src/tillhouse/reference/viewer/static/tokens.css").read_text("utf-8")
_LIGHT_DARK = re.compile(r"--([\w-]+): light-dark\(oklch\(([^)]*)\), oklch\(([^)]*)\)\)")
_HEX = re.compile(r"--([\w-]+): #([0-9a-f]{6})")
TEXT, LARGE, PART = 4.5, 7.0, 3.0

PAIRS = [
    ("ink", "paper", LARGE), ("ink", "surface", LARGE), ("ink", "sunken", LARGE),
    ("ink", "hover", LARGE), ("ink", "accent-soft", TEXT),
    ("ink-2", "paper", TEXT), ("ink-2", "surface", TEXT), ("ink-2", "sunken", TEXT),
    ("ink-2", "accent-soft", TEXT), ("ink-2", "line", TEXT),
    ("ink-3", "paper", TEXT), ("ink-3", "surface", TEXT), ("ink-3", "sunken", TEXT),
    ("accent", "paper", TEXT), ("accent", "surface", TEXT), ("accent", "sunken", TEXT),
    ("accent", "accent-soft", TEXT), ("accent", "hover", TEXT),
    ("bad", "bad-soft", TEXT),
    ("on-fill", "accent-fill", TEXT), ("on-fill", "accent-press", TEXT),
    ("edge", "paper", PART), ("edge", "surface", PART),
]  # fmt: skip

Colour = tuple[float, float, float]


def from_oklch(text: str) -> Colour:
    """Linear red, green and blue of an OKLCH colour, as CSS Color 4 has it."""
    light, chroma, hue = (float(part.rstrip("%")) for part in text.split())
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (light / 100 + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (light / 100 - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light / 100 - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def from_hex(text: str) -> Colour:
    """Linear red, green and blue of a colour in hexadecimal."""
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return _linear(red), _linear(green), _linear(blue)


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def luminance(colour: Colour) -> float:
    """Relative luminance, as WCAG 2.2 has it."""
    red, green, blue = (min(1.0, max(0.0, part)) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """The ratio of two colours."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def palettes() -> dict[str, dict[str, Colour]]:
    """The colours by name: light, dark, and those of browsers without light-dark()."""
    found = _LIGHT_DARK.findall(TOKENS)
    return {
        "light": {name: from_oklch(light) for name, light, _ in found},
        "dark": {name: from_oklch(dark) for name, _, dark in found},
        "plain": {name: from_hex(value) for name, value in _HEX.findall(TOKENS)},
    }


def test_the_measure_is_that_of_wcag() -> None:
    """Black on white is 21 to 1, and a grey that is just enough measures so."""
    assert contrast(from_hex("000000"), from_hex("ffffff")) == pytest.approx(21)
    assert contrast(from_hex("767676"), from_hex("ffffff")) == pytest.approx(4.54, abs=0.01)
    assert contrast(from_oklch("0% 0 0"), from_oklch("100% 0 0")) == pytest.approx(21, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark", "plain"])
@pytest.mark.parametrize(("fore", "back", "least"), PAIRS)
def test_what_is_written_can_be_read(fore: str, back: str, least: float, theme: str) -> None:
    """Text and the edges of controls stand out from what they are on."""
    colours = palettes()[theme]
    ratio = contrast(colours[fore], colours[back])
    assert ratio >= least, f"{fore} on {back} in {theme}: {ratio:.2f}, at least {least}"
