"""WhatsApp's webhook: the handshake, the signature, and every shape of update."""

import hmac
import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.providers.messaging.whatsapp_updates import (
    Reported,
    Status,
    WhatsAppMessage,
    challenge,
    is_signed,
    updates,
)

NUMBER = "106540352242922"


def whole(value: dict[str, Any], field: str = "messages", number: str = NUMBER) -> bytes:
    """An update as it is posted."""
    metadata = {"display_phone_number": "15550783881", "phone_number_id": number}
    value = {"messaging_product": "whatsapp", "metadata": metadata, **value}
    entry = {"id": "1", "changes": [{"field": field, "value": value}]}
    return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def message(kind: str = "text", **fields: Any) -> dict[str, Any]:
    """A message of a customer."""
    return {
        "from": "2348030000001",
        "id": "wamid.1",
        "timestamp": "1769850600",
        "type": kind,
        **fields,
    }


def received(kind: str, **fields: Any) -> WhatsAppMessage:
    """The one message of an update."""
    (found,) = updates(whole({"messages": [message(kind, **fields)]}), NUMBER)
    assert isinstance(found, WhatsAppMessage)
    return found


def test_the_handshake_needs_our_token() -> None:
    """The challenge is echoed to who knows the token, and to nobody else."""
    query = {"hub.mode": "subscribe", "hub.verify_token": "ours", "hub.challenge": "1158"}
    assert challenge(query, "ours") == "1158"
    assert challenge({**query, "hub.verify_token": "theirs"}, "ours") is None
    assert challenge({**query, "hub.verify_token": "öurs"}, "ours") is None
    assert challenge({**query, "hub.mode": "unsubscribe"}, "ours") is None
    assert challenge({}, "ours") is None


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_a_signature_is_of_these_very_bytes(body: bytes, other: bytes) -> None:
    """It fits the body that was signed, and no other body, secret or form."""
    signature = "sha256=" + hmac.new(b"secret", body, sha256).hexdigest()
    assert is_signed("secret", body, signature)
    assert is_signed("secret", other, signature) == (other == body)
    assert not is_signed("another", body, signature)
    for bad in (None, "", "sha256=", signature[7:], signature.upper(), signature + "é"):
        assert not is_signed("secret", body, bad)


@pytest.mark.parametrize(
    ("kind", "inner", "words"),
    [
        ("text", {"body": "Is it ready?"}, "Is it ready?"),
        ("button", {"payload": "p", "text": "Yes"}, "Yes"),
        ("reaction", {"message_id": "wamid.0", "emoji": "👍"}, "👍"),
        ("interactive", {"type": "button_reply", "button_reply": {"id": "1", "title": "Go"}}, "Go"),
        ("interactive", {"type": "list_reply", "list_reply": {"id": "1", "title": "Two"}}, "Two"),
        ("image", {"id": "5", "caption": "My table"}, "My table"),
        ("document", {"id": "5", "filename": "list.pdf"}, "list.pdf"),
        ("location", {"latitude": 6.5, "longitude": 3.4}, "6.5, 3.4"),
        ("order", {"catalog_id": "1", "text": "Please", "product_items": []}, "Please"),
        ("audio", {"id": "5", "voice": True}, ""),
        ("sticker", {"id": "5"}, ""),
        ("system", {"body": "Ada changed the number"}, "Ada changed the number"),
    ],
)
def test_each_type_of_message(kind: str, inner: dict[str, Any], words: str) -> None:
    """Its type is kept, its text is what a person would read."""
    found = received(kind, **{kind: inner})
    assert (found.type, found.text) == (kind, words)
    assert found.sender == "+2348030000001"
    assert found.at == datetime(2026, 1, 31, 9, 10, tzinfo=UTC)


def test_a_type_may_come_without_its_object() -> None:
    """Interactive messages do, and unsupported ones bring errors instead."""
    assert received("interactive").text == ""
    assert received("unsupported", errors=[{"code": 131051}]).type == "unsupported"


def test_a_person_who_hides_the_number_has_an_id() -> None:
    """Then there is no `from`."""
    hidden = {k: v for k, v in message(text={"body": "Hi"}).items() if k != "from"}
    body = whole(
        {
            "contacts": [{"profile": {"name": "Bola"}, "user_id": "NG.134"}],
            "messages": [{**hidden, "from_user_id": "NG.134"}],
        }
    )
    (found,) = updates(body, NUMBER)
    assert isinstance(found, WhatsAppMessage)
    assert found.sender == "NG.134"


def test_every_entry_change_message_and_status_counts() -> None:
    """Arrays hold more than one, and each array is gone through."""
    texts = [message(id=f"wamid.{n}", text={"body": str(n)}) for n in range(3)]
    states = [{"id": f"wamid.s{n}", "status": "read", "timestamp": "1"} for n in range(2)]
    one = json.loads(whole({"messages": texts, "statuses": states}))
    entry = one["entry"][0]
    entry["changes"] = entry["changes"] * 2
    one["entry"] = [entry, entry]
    assert len(updates(json.dumps(one).encode(), NUMBER)) == 4 * 5


@pytest.mark.parametrize(
    ("status", "expected"),
    [("sent", "sent"), ("delivered", "delivered"), ("read", "read"), ("played", "read")],
)
def test_a_status_is_reported(status: str, expected: Status) -> None:
    """With the provider's id and what we had sent along."""
    state = {"id": "wamid.9", "status": status, "biz_opaque_callback_data": "ours"}
    (found,) = updates(whole({"statuses": [state]}), NUMBER)
    assert found == Reported(
        provider_message_id="wamid.9", callback_data="ours", status=expected, error=None
    )


def test_a_failure_says_why() -> None:
    """Code and details of the first error."""
    error = {"code": 131026, "title": "Undeliverable", "error_data": {"details": "Not on WhatsApp"}}
    state = {"id": "wamid.9", "status": "failed", "errors": [error]}
    (found,) = updates(whole({"statuses": [state]}), NUMBER)
    assert isinstance(found, Reported)
    assert found.error == "131026: Not on WhatsApp"


def test_other_numbers_and_other_fields_are_passed_over() -> None:
    """An app's updates may be of several numbers; each has a hook of its own."""
    value = {"messages": [message(text={"body": "x"})]}
    assert updates(whole(value, number="999"), NUMBER) == []
    assert updates(whole(value, field="message_template_status_update"), NUMBER) == []
    unknown = {"statuses": [{"id": "wamid.1", "status": "warning"}, {"status": "sent"}]}
    assert updates(whole(unknown), NUMBER) == []


def test_what_no_text_may_hold_falls_away() -> None:
    """A customer's message is kept all the same."""
    assert received("text", text={"body": "a\u0000b\u0007c"}).text == "abc"
    assert received("text", text={"body": "x" * 9000}).text == "x" * 4096


# fmt: off
_NAMES = ["entry", "changes", "field", "value", "metadata", "messages", "statuses", "contacts",
          "id", "from", "type", "text", "status", "errors", "profile", "phone_number_id", "body"]
# fmt: on
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@given(_JSON)
def test_nothing_that_is_json_raises(value: Any) -> None:
    """Anything with a good signature is read or passed over."""
    for body in (json.dumps(value), json.dumps({"entry": [{"changes": [value]}]})):
        updates(body.encode(), NUMBER)
    inner = {"messages": [value], "statuses": [value], "contacts": [value]}
    updates(whole(inner), NUMBER)


@given(st.binary(max_size=100))
def test_nothing_that_is_no_json_raises(body: bytes) -> None:
    """Nor do bytes."""
    assert updates(body, NUMBER) == []
