"""The conversation in a sentence or two, made of heard words and used tools: pure decisions."""

from collections.abc import Mapping

from tillhouse.voice.conversation.script_rules import filled

LENGTH_MAX = 1_000
_SUMMARIES: Mapping[str, str] = {
    "order_confirmed": "Order {order} is confirmed: the customer agreed.",
    "order_declined": "The customer did not confirm order {order}.",
    "order_not_confirmed": "The customer agreed to order {order}, but it could not be confirmed.",
    "agreed": "The customer agreed. It was about: {purpose}.",
    "refused": "The customer did not agree. It was about: {purpose}.",
    "link_sent": "A link to pay order {order} was sent to the customer.",
    "link_declined": "The customer wanted no link to pay order {order}.",
    "link_not_sent": "The customer wanted a link to pay order {order}, but it could not be sent.",
    "nothing_owed": "The customer was told that there is nothing to be paid.",
    "reservation_confirmed": "Reservation {reservation} is confirmed: the guest will come.",
    "reservation_declined": "The guest will not come, but reservation {reservation} is kept.",
    "reservation_not_confirmed": "The guest will come, but reservation {reservation} could not be "
    "confirmed.",
    "reservation_cancelled": "Reservation {reservation} is cancelled: the guest will not come.",
    "reservation_not_cancelled": "The guest wanted reservation {reservation} cancelled, but it "
    "could not be.",
    "request_noted": "A wish of the guest of reservation {reservation} was noted.",
    "rated": "The customer rated it {rating} of 5.",
    "talked": "The agent and the customer talked, and nothing was changed.",
    "no_answer": "The customer did not answer the questions.",
    "hung_up": "The call was over before the conversation was.",
    "voicemail": "A machine answered, and no message was left.",
    "message_left": "A machine answered, and a message was left.",
    "opted_out": "The customer asked not to be called any more.",
}
_WORDS: Mapping[str, str] = {
    "wish": " They asked for: {wish}.",
    "comment": " They said: {comment}.",
}


def summary_of(outcome: str, answers: Mapping[str, str], words: Mapping[str, str]) -> str | None:
    """A conversation by its outcome, the answers that were heard and the words of its tools."""
    text = _SUMMARIES.get(outcome)
    if text is None:
        return None
    text += "".join(more for name, more in _WORDS.items() if answers.get(name))
    return filled(text, {**words, **answers})[:LENGTH_MAX]
