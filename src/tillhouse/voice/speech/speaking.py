"""Engines that speak: text in, sound of a telephone out."""

from typing import Protocol

TEXT_LENGTH_MAX = 2000


class NotSpoken(Exception):
    """The engine failed; the text says how, for the operator."""


class Speaks(Protocol):
    """An engine that speaks."""

    async def speak(self, text: str) -> bytes:
        """The text as PCM16, mono, 8 kHz, or raise `NotSpoken`."""
        ...
