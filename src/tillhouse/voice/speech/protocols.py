"""Engines of speech: one that speaks makes sound of a text, one that hears makes words of sound."""

from typing import Protocol

import msgspec

ENGLISH = "en"
TEXT_LENGTH_MAX = 2000


def primary(language: str) -> str:
    """A language without the country or the script: en of en-NG."""
    return language.split("-")[0]


class NotSpoken(Exception):
    """The engine failed; the text says how, for the operator."""


class Speaks(Protocol):
    """An engine that speaks."""

    async def speak(self, text: str, language: str) -> bytes:
        """The text, in a language such as en-NG, as PCM16, mono, 8 kHz, or raise `NotSpoken`."""
        ...


class HeardWords(msgspec.Struct, frozen=True):
    """The words that an engine heard, and how sure it is of them, from 0 to 1."""

    text: str
    confidence: float | None = None


class NotHeard(Exception):
    """The engine failed; the text says how, for the operator."""


class Hears(Protocol):
    """An engine that hears."""

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> HeardWords | None:
        """The words in PCM16, mono, 8 kHz, one of the phrases if any are given; None: nothing.

        The language is one such as en-NG. It raises `NotHeard` when it fails.
        """
        ...
