"""Requests and answers of the routes of prompts."""

import re
from typing import ClassVar

import msgspec

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.text import Coded, Schema, Value
from tillhouse.voice.agents.types import AgentSentence, Script
from tillhouse.voice.prompts.rules import SOUND_WRONG

# Half a minute, and the head of the file.
_LENGTH_MAX = 700_000
_BASE64 = "^[A-Za-z0-9+/]+={0,2}$"
# 20 milliseconds of silence.
_EXAMPLE = "UklGRmQBAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YUAB" + "A" * 430 + "=="


class PromptStep(
    Coded,
    pattern="^[a-z][a-z_]{0,39}$",
    wrong="must be a step such as greeting",
    example="greeting",
):
    """A step of a script at which something is said."""


class PromptSound(Value):
    """A WAV in base64: mono, 8 kHz, PCM of 16 bits or mu-law, at most 30 seconds."""

    SCHEMA: ClassVar[Schema] = {
        "contentEncoding": "base64",
        "contentMediaType": "audio/wav",
        "maxLength": _LENGTH_MAX,
        "pattern": _BASE64,
        "examples": [_EXAMPLE],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Of the right form; the sound itself is judged when it is read."""
        if len(value) > _LENGTH_MAX or re.fullmatch(_BASE64, value) is None:
            raise ValueError(SOUND_WRONG)
        return value


class NewPrompt(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The sound of a step of the agent's script."""

    step: PromptStep
    """The step, as `GET …/prompts` lists it."""
    text: AgentSentence | None = None
    """The words of the sound, for the transcript; needed with `sound`."""
    sound: PromptSound | None = None
    """A WAV in base64: mono, 8 kHz, PCM of 16 bits or mu-law, at most 30 seconds. Null: nothing is
    played at this step any more, and an engine speaks."""


class Prompt(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A step of a script, and what is played at it."""

    step: str
    """The step's name."""
    spoken: str
    """The words that an engine speaks; those in braces are filled in."""
    text: str | None
    """The words of the sound that is played instead; null: there is none."""
    duration_seconds: float | None
    """How long the sound is."""
    updated_at: Timestamp | None
    """When the sound was set."""


class Prompts(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The steps of the agent's script, and what is played at them."""

    script: Script
    """The conversation that the agent leads; the sounds of another one are kept for it."""
    is_complete: bool
    """Whether every step has a sound, so that the agent needs no engine that speaks."""
    steps: list[Prompt]
    """Everything that may be said, in the order of the conversation."""
