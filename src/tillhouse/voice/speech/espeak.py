"""espeak-ng, a speech synthesizer that is a program of its own."""

import shutil

from tillhouse.voice.speech.converting import Converter
from tillhouse.voice.speech.programs import run_program
from tillhouse.voice.speech.speaking import TEXT_LENGTH_MAX, NotSpoken

PROGRAM = "espeak-ng"
SPOKEN_WITHIN_S = 20.0


class Espeak:
    """Speaks by espeak-ng."""

    def __init__(self, program: str, voice: str = "en") -> None:
        self._program, self._voice = program, voice
        self._converter = Converter()

    @classmethod
    def found(cls, voice: str = "en") -> "Espeak | None":
        """The engine, where it is installed."""
        program = shutil.which(PROGRAM)
        return cls(program, voice) if program is not None else None

    async def speak(self, text: str) -> bytes:
        """The text as sound."""
        # The text goes in by a pipe, so that none of it is taken for an option.
        command = (self._program, "-v", self._voice, "--stdin", "--stdout")
        try:
            output = await run_program(command, text[:TEXT_LENGTH_MAX].encode(), SPOKEN_WITHIN_S)
        except TimeoutError:
            raise NotSpoken(f"{PROGRAM} took longer than {SPOKEN_WITHIN_S:g} s") from None
        if output.code:
            raise NotSpoken(f"{PROGRAM} failed: is there a voice {self._voice}?")
        return await self._converter.convert(output.data, PROGRAM)
