"""Engines that speak: text in, sound of a telephone out."""

from typing import Protocol

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
