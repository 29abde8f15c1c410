"""Engines that hear: the sound of one utterance in, words out."""

from typing import Protocol

import msgspec


class Words(msgspec.Struct, frozen=True):
    """The words that an engine heard, and how sure it is of them, from 0 to 1."""

    text: str
    confidence: float | None = None


class NotHeard(Exception):
    """The engine failed; the text says how, for the operator."""


class Hears(Protocol):
    """An engine that hears."""

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> Words | None:
        """The words in PCM16, mono, 8 kHz, one of the phrases if any are given; None: nothing.

        The language is one such as en-NG. It raises `NotHeard` when it fails.
        """
        ...
