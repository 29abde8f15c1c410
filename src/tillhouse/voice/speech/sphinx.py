"""pocketsphinx, an engine that hears one of a few phrases, where it is installed."""

import importlib.util
import json
import sys

import msgspec

from tillhouse.voice.speech.converting import run_program
from tillhouse.voice.speech.protocols import ENGLISH, HeardWords, NotHeard, primary

MODULE = "pocketsphinx"
_DECODER = "tillhouse.voice.speech.sphinx_decoder"
_HEARD_WITHIN_S = 8.0


class _Decoded(msgspec.Struct, frozen=True):
    text: str


class SphinxEar:
    """Hears by pocketsphinx, each utterance in a process of its own."""

    def __init__(self, module: str = _DECODER, within_s: float = _HEARD_WITHIN_S) -> None:
        self._module, self._within_s = module, within_s

    @classmethod
    def found(cls) -> "SphinxEar | None":
        """The engine, where it is installed."""
        return cls() if importlib.util.find_spec(MODULE) is not None else None

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> HeardWords | None:
        """The phrase that was said; free speech and other languages are beyond it."""
        if primary(language) != ENGLISH:
            raise NotHeard(f"{MODULE} hears English alone")
        if not phrases:
            return None
        command = (sys.executable, "-m", self._module)
        asked = json.dumps(phrases).encode() + b"\n" + pcm
        try:
            output = await run_program(command, asked, self._within_s)
        except TimeoutError:
            raise NotHeard(f"{MODULE} took longer than {self._within_s:g} s") from None
        try:
            text = msgspec.json.decode(output.data, type=_Decoded).text
        except msgspec.DecodeError:
            raise NotHeard(f"{MODULE} failed") from None
        return HeardWords(text) if text else None
