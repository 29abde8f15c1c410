"""Scripts: conversations as plain data, step by step; which step follows is a pure decision."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from tillhouse.providers.telephony.provider import Expected, PartyReply
from tillhouse.voice.agents.types import Script, ToolName

START = "start"
# Names of the sentences that belong to every script.
DISCLOSURE, GREETED = "disclosure", "greeting"
OPTING_OUT, LEFT_MESSAGE = "opted_out", "voicemail"
# The step of every script that ends it when the callee says nothing.
SILENT = "silent"
YES = ("yes", "yeah", "yes please", "okay", "sure", "of course", "correct", "that is right")
NO = ("no", "no thanks", "not now", "not yet", "wrong", "of course not")
# Somebody who says one of these has not simply agreed.
_DOUBTS = frozenset({"not", "but", "don't", "never", "wait"})
OPT_OUT = ("stop calling me", "do not call me", "don't call me", "stop calling", "remove me")
OPT_OUT_KEY = "9"
_ASKED_MAX = 2


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to a question, in words or by a key, and the step that follows it."""

    meaning: str
    phrases: tuple[str, ...]
    key: str
    then: str


class Say(msgspec.Struct, frozen=True, kw_only=True):
    """The agent says something."""

    text: str
    then: str


class AskStep(msgspec.Struct, frozen=True, kw_only=True):
    """The agent asks, and waits for one of the answers; without choices, for any."""

    name: str
    text: str
    choices: tuple[Choice, ...] = ()
    # After any answer where there are no choices.
    then: str = SILENT
    # After no answer.
    silent: str = SILENT
    # The outcome when the customer hangs up here.
    gone: str = "hung_up"


class UseStep(msgspec.Struct, frozen=True, kw_only=True):
    """The agent does something in the business."""

    tool: ToolName
    done: str
    failed: str


class May(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the agent has a tool decides how it goes on."""

    tool: ToolName
    then: str
    otherwise: str


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The agent says the last words and hangs up; the outcome."""

    text: str
    outcome: str


Step: TypeAlias = Say | AskStep | UseStep | May | End
Steps: TypeAlias = Mapping[str, Step]


def expected_of(ask: AskStep) -> Expected:
    """The answers that a question allows, for an engine that hears by a grammar."""
    phrases = tuple(phrase for choice in ask.choices for phrase in choice.phrases)
    if not ask.choices:
        return Expected(keys=OPT_OUT_KEY)
    return Expected(phrases=(*phrases, *OPT_OUT), digits_max=1)


def is_opt_out(heard: PartyReply) -> bool:
    """Whether somebody asks not to be called any more."""
    if heard.kind == "digits":
        return heard.text == OPT_OUT_KEY
    return any(words in _plain(heard.text) for words in OPT_OUT)


def chosen(ask: AskStep, heard: PartyReply) -> Choice | None:
    """The choice that an answer means; None: it fits none."""
    if heard.kind == "digits":
        return next((one for one in ask.choices if one.key == heard.text), None)
    words = _plain(heard.text)
    exact = [one for one in ask.choices if words in one.phrases]
    if exact:
        return exact[0]
    named = [one for one in ask.choices if any(_has(words, each) for each in one.phrases)]
    if len(named) != 1 or not any(_begins(words, each) for each in named[0].phrases):
        return None
    return None if named[0].meaning == "yes" and _is_doubtful(heard.text, words) else named[0]


def _is_doubtful(text: str, words: str) -> bool:
    """Whether a yes goes on with a condition, or with a question back."""
    return text.rstrip().endswith(("?", "\uff1f")) or not _DOUBTS.isdisjoint(words.split())


def asks_again(asked: int) -> bool:
    """Whether a question that was asked so often is asked once more."""
    return asked < _ASKED_MAX


def _has(words: str, phrase: str) -> bool:
    return f" {phrase} " in f" {words} "


def _begins(words: str, phrase: str) -> bool:
    return words == phrase or words.startswith(f"{phrase} ")


def _plain(text: str) -> str:
    text = text.lower().replace("\u2019", "'")
    kept = "".join(letter if letter.isalnum() or letter == "'" else " " for letter in text)
    return " ".join(kept.split())


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text of a script with its blanks filled in; the words themselves are never read as one."""
    parts = text.split("{")
    told = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        told.append(words.get(name, "") + rest)
    return " ".join("".join(told).split())


def _yes(then: str) -> Choice:
    return Choice(meaning="yes", phrases=YES, key="1", then=then)


def _no(then: str) -> Choice:
    return Choice(meaning="no", phrases=NO, key="2", then=then)


_SILENT = End(text="I did not hear an answer. Goodbye.", outcome="no_answer")
_SORRY = "I could not do that now. Somebody will get in touch with you. Goodbye."

_PAYMENT: Steps = {
    START: UseStep(tool="find_order", done="ask", failed="none"),
    "ask": AskStep(
        name="wants_link",
        text="{outstanding} of your order {order} is still to be paid. May I send you a link to "
        "pay it? Say yes or press 1, say no or press 2.",
        choices=(_yes("send"), _no("later")),
    ),
    "send": UseStep(tool="send_payment_link", done="sent", failed="not_sent"),
    "sent": End(text="The link is on its way to you. Thank you, and goodbye.", outcome="link_sent"),
    "not_sent": End(text=_SORRY, outcome="link_not_sent"),
    "later": End(text="All right. Thank you, and goodbye.", outcome="link_declined"),
    "none": End(
        text="There is nothing to be paid. Thank you, and goodbye.", outcome="nothing_owed"
    ),
    SILENT: _SILENT,
}
_ORDER: Steps = {
    START: UseStep(tool="find_order", done="ask", failed="ask_plainly"),
    "ask": AskStep(
        name="confirms",
        text="You ordered {summary} for {total}. Is that right? Say yes or press 1, say no or "
        "press 2.",
        choices=(_yes("confirm"), _no("declined")),
    ),
    "confirm": UseStep(tool="confirm_order", done="confirmed", failed="not_confirmed"),
    "confirmed": End(
        text="Thank you. Your order {order} is confirmed. Goodbye.", outcome="order_confirmed"
    ),
    "not_confirmed": End(text=_SORRY, outcome="order_not_confirmed"),
    "declined": End(
        text="Thank you. Somebody will get in touch with you. Goodbye.", outcome="order_declined"
    ),
    "ask_plainly": AskStep(
        name="confirms",
        text="It is about this: {purpose}. Do you agree? Say yes or press 1, say no or press 2.",
        choices=(_yes("agreed"), _no("refused")),
    ),
    "agreed": End(text="Thank you, and goodbye.", outcome="agreed"),
    "refused": End(text="Thank you, and goodbye.", outcome="refused"),
    SILENT: _SILENT,
}
_COMES = "reservation_confirmed"
_RESERVATION: Steps = {
    START: UseStep(tool="find_reservation", done="ask", failed="ask_plainly"),
    "ask": AskStep(
        name="comes",
        text="You have a reservation with us: {room}, from {arrival} to {departure}. Will you "
        "come? Say yes or press 1, say no or press 2.",
        choices=(_yes("confirm"), _no("may_cancel")),
    ),
    "confirm": UseStep(tool="confirm_reservation", done="may_note", failed="not_done"),
    "not_done": End(text=_SORRY, outcome="reservation_not_confirmed"),
    "may_note": May(tool="note_service_request", then="ask_wish", otherwise="confirmed"),
    "confirmed": End(
        text="Thank you. Your reservation {reservation} is confirmed. Goodbye.", outcome=_COMES
    ),
    "ask_wish": AskStep(
        name="has_wish",
        text="Thank you. Your reservation {reservation} is confirmed. Is there anything that you "
        "need for your stay? Say yes or press 1, say no or press 2.",
        choices=(_yes("wish"), _no("see_you")),
        silent="see_you",
        gone=_COMES,
    ),
    "wish": AskStep(
        name="wish", text="Please say what you need.", then="note", silent="see_you", gone=_COMES
    ),
    "note": UseStep(tool="note_service_request", done="noted", failed="not_noted"),
    "noted": End(text="I have noted that. We look forward to seeing you. Goodbye.", outcome=_COMES),
    "not_noted": End(
        text="I could not note that: please tell us when you arrive. Goodbye.", outcome=_COMES
    ),
    "see_you": End(text="We look forward to seeing you. Goodbye.", outcome=_COMES),
    "may_cancel": May(tool="cancel_reservation", then="keep", otherwise="kept"),
    "keep": AskStep(
        name="keeps",
        text="Shall we keep it for you all the same? Say yes or press 1 to keep it, say no or "
        "press 2 to cancel it.",
        choices=(_yes("kept"), _no("cancel")),
        silent="kept",
        gone="reservation_declined",
    ),
    "kept": End(
        text="Thank you for telling us. Somebody will get in touch with you. Goodbye.",
        outcome="reservation_declined",
    ),
    "cancel": UseStep(tool="cancel_reservation", done="cancelled", failed="not_cancelled"),
    "cancelled": End(
        text="Your reservation {reservation} is cancelled. Thank you for telling us. Goodbye.",
        outcome="reservation_cancelled",
    ),
    "not_cancelled": End(text=_SORRY, outcome="reservation_not_cancelled"),
    "ask_plainly": AskStep(
        name="comes",
        text="You have a reservation with us: {purpose}. Will you come? Say yes or press 1, say "
        "no or press 2.",
        choices=(_yes("coming"), _no("not_coming")),
    ),
    "coming": End(text="Thank you. We look forward to seeing you. Goodbye.", outcome="agreed"),
    "not_coming": End(text="Thank you for telling us. Goodbye.", outcome="refused"),
    SILENT: _SILENT,
}
_RATINGS = ("five", "four", "three", "two", "one")
_FEEDBACK: Steps = {
    START: AskStep(
        name="rating",
        text="How was it, from one to five, when five is best? Say the number or press it.",
        choices=tuple(
            Choice(meaning=str(5 - n), phrases=(word,), key=str(5 - n), then="comment")
            for n, word in enumerate(_RATINGS)
        ),
    ),
    "comment": AskStep(name="comment", text="Is there anything else you want to tell us?",
                   then="thanks", silent="thanks", gone="rated"),
    "thanks": End(text="Thank you for your time. Goodbye.", outcome="rated"),
    SILENT: End(text="Thank you. Goodbye.", outcome="no_answer"),
}  # fmt: skip

SCRIPTS: Mapping[Script, Steps] = {
    "payment_reminder": _PAYMENT,
    "order_confirmation": _ORDER,
    "reservation_confirmation": _RESERVATION,
    "feedback": _FEEDBACK,
}
OPTED_OUT = End(text="You will not be called again. Goodbye.", outcome="opted_out")
GREETING = "Hello {customer}, this is {agent} calling for {business}."
VOICEMAIL = "Please call {business} back about this: {purpose}. Goodbye."
