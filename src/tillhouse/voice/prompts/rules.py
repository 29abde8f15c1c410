"""Rules of prompts: the steps at which something is said, and the sound that is. Pure decisions."""

from collections.abc import Collection, Iterator, Mapping

from tillhouse.kit.errors import FieldError, LimitReached
from tillhouse.providers.telephony.provider import SAMPLES_PER_SECOND
from tillhouse.voice.agents.types import Script
from tillhouse.voice.conversation import script_rules as scripts

SECONDS_MAX = 30
# Of one book.
BYTES_MAX = 64 * 1024 * 1024
PROMPTS_MAX = 1_000
SOUND_WRONG = (
    f"must be a WAV in base64: mono, 8 kHz, PCM of 16 bits or mu-law, at most {SECONDS_MAX} seconds"
)
BYTES_PER_S = 2 * SAMPLES_PER_SECOND
_FULL = (
    f"An environment keeps at most {PROMPTS_MAX:,} sounds, of {BYTES_MAX // 2**20} MiB in all: "
    "remove some that no agent needs."
)


def check_quota(count: int, size: int) -> None:
    """Refuse more sounds, or more bytes of them, than a book may have."""
    if count > PROMPTS_MAX or size > BYTES_MAX:
        raise LimitReached(_FULL)


def seconds_of(size: int) -> float:
    """How long so many bytes of sound are."""
    return size / BYTES_PER_S


def spoken_at(script: Script, disclosure: str, greeting: str | None) -> Mapping[str, str]:
    """The steps at which something is said, in the order of the conversation, and its words."""
    return {
        scripts.DISCLOSURE: disclosure,
        scripts.GREETED: greeting or scripts.GREETING,
        **_texts(script),
        scripts.OPTING_OUT: scripts.OPTED_OUT.text,
        scripts.LEFT_MESSAGE: scripts.VOICEMAIL,
    }


def is_complete(script: Script, steps: Collection[str], *, leaves_message: bool) -> bool:
    """Whether these steps have all that is ever said."""
    needed = {scripts.DISCLOSURE, scripts.GREETED, scripts.OPTING_OUT, *_texts(script)}
    if leaves_message:
        needed.add(scripts.LEFT_MESSAGE)
    return needed <= set(steps)


def _texts(script: Script) -> dict[str, str]:
    return {
        name: step.text
        for name, step in scripts.SCRIPTS[script].items()
        if isinstance(step, scripts.Say | scripts.AskStep | scripts.End)
    }


def step_faults(step: str, steps: Collection[str]) -> Iterator[FieldError]:
    """The faults of the step at which something is to be played."""
    if step not in steps:
        yield FieldError("step", "is no step of this agent's script: see GET …/prompts")


def text_faults(text: str | None, *, has_sound: bool) -> Iterator[FieldError]:
    """The faults of the words of a sound."""
    if has_sound and text is None:
        yield FieldError("text", "is needed with a sound: its words, for the transcript")


def sound_faults(sound: bytes | None, *, has_sound: bool) -> Iterator[FieldError]:
    """The faults of a sound that was read; None: it could not be."""
    if has_sound and sound is None:
        yield FieldError("sound", SOUND_WRONG)
