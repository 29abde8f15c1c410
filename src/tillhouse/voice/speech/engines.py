"""The engines of this installation, and the party that they make of a line."""

from collections.abc import Callable, Sequence
from datetime import datetime

import structlog

from tillhouse.outgoing.client import ANYWHERE, ServerClient
from tillhouse.providers.telephony.provider import Audio, Party
from tillhouse.settings import Settings
from tillhouse.voice.speech.espeak import Espeak
from tillhouse.voice.speech.http_engines import EngineAccount, HttpEar, HttpVoice
from tillhouse.voice.speech.party import LineEngines, SpokenParty
from tillhouse.voice.speech.protocols import (
    ENGLISH,
    HeardWords,
    Hears,
    NotHeard,
    NotSpoken,
    Speaks,
    primary,
)
from tillhouse.voice.speech.sphinx import SphinxEar

log = structlog.get_logger()


class FirstVoice:
    """Speaks by the first engine that does."""

    def __init__(self, voices: Sequence[Speaks]) -> None:
        self._voices = voices

    async def speak(self, text: str, language: str) -> bytes:
        """The text as sound; by the last engine in English, where none has the language."""
        failed = NotSpoken("there is no engine that speaks")
        tries = [(voice, language) for voice in self._voices]
        if primary(language) != ENGLISH:
            tries += [(voice, ENGLISH) for voice in self._voices[-1:]]
        for voice, spoken in tries:
            try:
                return await voice.speak(text, spoken)
            except NotSpoken as error:
                log.warning("voice_not_spoken", error=str(error))
                failed = error
        raise failed


class FirstEar:
    """Hears by the first engine that does."""

    def __init__(self, ears: Sequence[Hears]) -> None:
        self._ears = ears

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> HeardWords | None:
        """The words of an utterance."""
        failed = NotHeard("there is no engine that hears")
        for ear in self._ears:
            try:
                return await ear.hear(pcm, phrases, language)
            except NotHeard as error:
                log.warning("voice_not_heard", error=str(error))
                failed = error
        raise failed


class Engines:
    """The engines that speak and hear, the better ones first; of one process."""

    def __init__(self, settings: Settings) -> None:
        # The operator names their addresses, within a private network too.
        self._client = ServerClient(ANYWHERE, settings.webhook_ca_file)
        voices, ears = _voices(settings, self._client), _ears(settings, self._client)
        self._voice = FirstVoice(voices) if voices else None
        self._ear = FirstEar(ears) if ears else None

    def party_of(
        self,
        other: Party | Audio | None,
        now: Callable[[], datetime],
        language: str,
        *,
        is_spoken: bool = True,
    ) -> Party | None:
        """The other side as agents talk to it; None where nothing here can speak, and must."""
        if isinstance(other, Party):
            return other
        if other is None or (self._voice is None and is_spoken):
            return None
        return SpokenParty(other, LineEngines(self._voice, self._ear, language), now)

    def close(self) -> None:
        """Ask them no more."""
        self._client.close()


def _voices(settings: Settings, client: ServerClient) -> Sequence[Speaks]:
    found: list[Speaks] = []
    if settings.speaking_url is not None:
        account = EngineAccount(
            url=settings.speaking_url,
            model=settings.speaking_model,
            key=settings.speaking_key,
            voice=settings.speaking_voice,
        )
        found.append(HttpVoice(client, account))
    espeak = Espeak.found()
    return [*found, espeak] if espeak is not None else found


def _ears(settings: Settings, client: ServerClient) -> Sequence[Hears]:
    found: list[Hears] = []
    if settings.hearing_url is not None:
        account = EngineAccount(
            url=settings.hearing_url, model=settings.hearing_model, key=settings.hearing_key
        )
        found.append(HttpEar(client, account))
    sphinx = SphinxEar.found()
    return [*found, sphinx] if sphinx is not None else found


def describe(settings: Settings) -> tuple[str, str]:
    """The engines that speak, and those that hear, in words for the operator."""
    http = "the engine at {}"
    speaks = [http.format(settings.speaking_url)] if settings.speaking_url else []
    hears = [http.format(settings.hearing_url)] if settings.hearing_url else []
    if Espeak.found() is not None:
        speaks.append("espeak-ng")
    if SphinxEar.found() is not None:
        hears.append("pocketsphinx (a few phrases)")
    return ", then ".join(speaks), ", then ".join(hears)
