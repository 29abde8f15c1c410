"""espeak-ng, a speech synthesizer that is a program of its own."""

import shutil

from tillhouse.voice.speech.converting import Converter, run_program
from tillhouse.voice.speech.protocols import TEXT_LENGTH_MAX, NotSpoken, primary

PROGRAM = "espeak-ng"
SPOKEN_WITHIN_S = 20.0


class Espeak:
    """Speaks by espeak-ng."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._converter = Converter()

    @classmethod
    def found(cls) -> "Espeak | None":
        """The engine, where it is installed."""
        program = shutil.which(PROGRAM)
        return cls(program) if program is not None else None

    async def speak(self, text: str, language: str) -> bytes:
        """The text as sound, by the voice of the country, else of the language."""
        for voice in dict.fromkeys((language.lower(), primary(language))):
            wav = await self._spoken(text, voice)
            if wav is not None:
                return await self._converter.convert(wav, PROGRAM)
        raise NotSpoken(f"{PROGRAM} failed: is there a voice {language}?")

    async def _spoken(self, text: str, voice: str) -> bytes | None:
        """The text as WAV; None where the program fails, as it does without the voice."""
        # The text goes in by a pipe, so that none of it is taken for an option.
        command = (self._program, "-v", voice, "--stdin", "--stdout")
        try:
            output = await run_program(command, text[:TEXT_LENGTH_MAX].encode(), SPOKEN_WITHIN_S)
        except TimeoutError:
            raise NotSpoken(f"{PROGRAM} took longer than {SPOKEN_WITHIN_S:g} s") from None
        return None if output.code else output.data
