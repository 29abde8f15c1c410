"""The engines of this installation, and the party that they make of a line."""

from collections.abc import Callable
from datetime import datetime

from tillhouse.providers.telephony.provider import Audio, Party
from tillhouse.voice.speech.espeak import Espeak
from tillhouse.voice.speech.party import SpokenParty


def party_of(other: Party | Audio | None, now: Callable[[], datetime]) -> Party | None:
    """The other side as agents talk to it; None where nothing here can speak."""
    if isinstance(other, Party):
        return other
    voice = Espeak.found()
    if other is None or voice is None:
        return None
    return SpokenParty(other, voice, None, now)
