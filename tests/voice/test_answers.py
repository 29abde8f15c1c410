"""Answers to questions of scripts: which choice words mean, and when they mean none."""

import pytest

from tests.voice.speech.wire import ANSWERED
from tillhouse.providers.telephony.provider import PartyReply
from tillhouse.voice.agents.types import Script
from tillhouse.voice.conversation.script_rules import SCRIPTS, AskStep, chosen, is_opt_out


def _heard(words: str) -> PartyReply:
    return PartyReply(kind="text", text=words, started_at=ANSWERED, ended_at=ANSWERED)


def _meaning(words: str, script: Script = "order_confirmation", step: str = "ask") -> str | None:
    ask = SCRIPTS[script][step]
    assert isinstance(ask, AskStep)
    choice = chosen(ask, _heard(words))
    return choice.meaning if choice else None


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("Yes.", "yes"),
        ("Yes?", "yes"),
        ("Yes, please do.", "yes"),
        ("That is right", "yes"),
        ("No.", "no"),
        ("No, I don't want it.", "no"),
        ("Of course not.", "no"),
        ("No. Yes!", None),
        ("Yes... no, wait.", None),
        ("Yes, but only two of them", None),
        ("Yes, that's not what I ordered", None),
        ("Okay, who is this?", None),
        ("Sure, I don't know you", None),
        ("Sure, I don\u2019t know you", None),
        ("Hello, yes", None),
        ("I have no idea", None),
    ],
)
def test_only_a_clear_answer_agrees(words: str, meaning: str | None) -> None:
    """Words of both choices, a condition or a question back are asked about again."""
    assert _meaning(words) == meaning


@pytest.mark.parametrize(
    ("words", "meaning"), [("Four, not bad", "4"), ("four or five", None), ("Five!", "5")]
)
def test_only_one_rating_is_a_rating(words: str, meaning: str | None) -> None:
    """Of two numbers none is the customer's."""
    assert _meaning(words, "feedback", "start") == meaning


@pytest.mark.parametrize(
    "words", ["Don't call me again!", "Please don\u2019t call me", "Stop calling me"]
)
def test_a_wish_is_understood_however_it_is_written(words: str) -> None:
    """An engine may write any apostrophe."""
    assert is_opt_out(_heard(words))
