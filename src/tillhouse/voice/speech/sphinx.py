"""pocketsphinx, an engine that hears one of a few phrases, where it is installed."""

import asyncio
import contextlib
import importlib.util
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE

import msgspec

from tillhouse.voice.speech.hearing import NotHeard, Words

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

    async def hear(self, pcm: bytes, phrases: tuple[str, ...]) -> Words | None:
        """The phrase that was said; free speech is beyond it."""
        if not phrases:
            return None
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", self._module, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
        try:
            async with asyncio.timeout(self._within_s):
                asked = json.dumps(phrases).encode() + b"\n" + pcm
                answer, _ = await process.communicate(asked)
        except TimeoutError:
            raise NotHeard(f"{MODULE} took longer than {self._within_s:g} s") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        try:
            text = msgspec.json.decode(answer, type=_Decoded).text
        except msgspec.DecodeError:
            raise NotHeard(f"{MODULE} failed") from None
        return Words(text) if text else None
