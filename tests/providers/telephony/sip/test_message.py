"""Reading SIP: every string of bytes is a message or refused, and what is read is what it says.

TILLHOUSE_TEST_FUZZ=100000 reads that many, other ones each time.
"""

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.providers.telephony.sip.torture import INVALID, VALID
from tillhouse.providers.telephony.sip import sdp
from tillhouse.providers.telephony.sip.grammar import MalformedSip, parse_address, parse_uri
from tillhouse.providers.telephony.sip.message import (
    MESSAGE_BYTES_MAX,
    Request,
    Response,
    parse,
    write_request,
    write_response,
)

_EXAMPLES = max(300, int(os.environ.get("TILLHOUSE_TEST_FUZZ", "0")))
_LISTS = ("via", "contact", "route", "record-route", "unknownheaderwithunusualvalue")


@pytest.mark.parametrize("name", VALID)
def test_torture_messages_are_read(name: str) -> None:
    """Each message that RFC 4475 calls valid, or leaves to the recipient, is a message."""
    message = parse(VALID[name])
    assert message.call_id.startswith((f"{name}.", "plain."))
    assert message.via.branch


@pytest.mark.parametrize("name", INVALID)
def test_broken_torture_messages_are_refused(name: str) -> None:
    """Each message that RFC 4475 calls invalid is refused by the one declared error."""
    with pytest.raises(MalformedSip):
        parse(INVALID[name])


def test_white_space_and_folding_mean_nothing() -> None:
    """The message with all the odd blanks says what its author meant."""
    message = parse(VALID["wsinv"])
    assert isinstance(message, Request)
    assert message.uri == "sip:vivekg@chair-dnrc.example.com;unknownparam"
    assert message.recipient.tag == "1918181833n"
    assert message.sender.tag == "98asjd8"
    assert message.cseq == 9
    assert message.via.host == "192.0.2.2"
    assert message.via.branch == "390skdjuw"
    assert len(message.each("via")) == 3
    assert message.first("newfangledheader") == "newfangled value continued newfangled value"
    contact = parse_address(message.each("contact")[0])
    assert contact.uri == "sip:jdrosen@example.com"
    assert contact.parameters == {"newparam": "newvalue", "secondparam": "", "q": "0.33"}
    assert message.body == b"v=0"


def test_a_second_message_in_a_datagram_is_no_part_of_the_first() -> None:
    """Bytes behind the length that a message tells are left out."""
    message = parse(VALID["dblreq"])
    assert (message.method, message.body) == ("REGISTER", b"")


def test_a_reason_may_be_missing_or_in_any_script() -> None:
    """The status alone counts."""
    unreason, noreason = parse(VALID["unreason"]), parse(VALID["noreason"])
    assert isinstance(unreason, Response)
    assert isinstance(noreason, Response)
    assert unreason.status == 200
    assert "простое" in unreason.reason
    assert (noreason.status, noreason.reason, noreason.is_provisional) == (100, "", True)


def test_messages_have_a_bounded_size() -> None:
    """A message with a body or with headers beyond the bounds is refused."""
    plain = VALID["zeromf"]
    with pytest.raises(MalformedSip, match="too long"):
        parse(plain + b"x" * MESSAGE_BYTES_MAX)
    with pytest.raises(MalformedSip, match="too many headers"):
        parse(plain.replace(b"Max-Forwards: 0", b"a: b\r\n" * 200 + b"Max-Forwards: 0"))


def test_a_written_message_reads_as_it_was_meant() -> None:
    """A request that was written is read again; a response repeats what its request had."""
    headers = [
        ("via", "SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK1;rport"),
        ("from", "<sip:a@b>;tag=1"),
        ("to", "<sip:c@d>"),
        ("call-id", "x"),
        ("cseq", "1 INVITE"),
    ]
    request = parse(write_request("INVITE", "sip:c@d", headers, b"body"))
    assert isinstance(request, Request)
    assert (request.uri, request.body, request.cseq) == ("sip:c@d", b"body", 1)
    response = parse(write_response(request, 486, "Busy Here", [("to", "<sip:c@d>;tag=2")]))
    assert isinstance(response, Response)
    assert (response.status, response.reason) == (486, "Busy Here")
    assert response.via == request.via
    assert response.recipient.tag == "2"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("sip:me@192.0.2.1", "192.0.2.1", None),
        ("sip:192.0.2.1:5070", "192.0.2.1", 5070),
        ("sip:me@[2001:db8::1]:5070;transport=udp", "2001:db8::1", 5070),
        ("sip:me:secret@example.com?subject=x", "example.com", None),
    ],
)
def test_addresses_are_read(text: str, host: str, port: int | None) -> None:
    """Host and port are found among everything that a URI may have."""
    uri = parse_uri(text)
    assert (uri.host, uri.port) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["", "sip:", "tel:+234", "sip:@host", "sip:a@b:0", "sip:a@b:70000", "sip:a@b c",
     "sip:a@b\r\nX: y", "sip:a@[::1", 'sip:a"@b', "sip:a@b>", "http://a.b"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    """Nothing that could end a header, or has no host, is taken for an address."""
    with pytest.raises(MalformedSip):
        parse_uri(text)


def _put() -> st.SearchStrategy[bytes]:
    """Bytes that are put in the place of others; some are longer than any that are meant."""
    odd = (b"9" * 5000, b"x" * 5000, b"\r\n ", b"\r\n", b'"', b"<", b";", b",", b"\\", b"%",
           "\u0663".encode(), b"\xff", b"[::1", b"-1", b"0", b"4294967296")  # fmt: skip
    return st.one_of(st.binary(max_size=12), st.sampled_from(odd))


def _mutated() -> st.SearchStrategy[bytes]:
    """Torture messages with parts cut out, doubled and replaced."""

    def mutate(parts: tuple[bytes, int, int, bytes]) -> bytes:
        data, start, length, put = parts
        at = start % (len(data) + 1)
        return data[:at] + put + data[at + length :]

    known = st.sampled_from([*VALID.values(), *INVALID.values()])
    return st.tuples(known, st.integers(0, 5000), st.integers(0, 40), _put()).map(mutate)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(st.one_of(st.binary(max_size=400), _mutated()))
@example(b"")
@example(b"\r\n\r\n")
@example(b"SIP/2.0 200 OK\r\n\r\n")
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    """Nothing but `MalformedSip` is ever raised, also by what is read later."""
    try:
        message = parse(data)
        for name in _LISTS:
            for value in message.each(name):
                parse_address(value)
    except MalformedSip:
        return
    assert message.method


_OFFER = (
    b"v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n"
    b"m=audio 4000 RTP/AVP 0 8 101\r\na=rtpmap:101 telephone-event/8000\r\na=sendonly\r\n"
)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(st.integers(0, len(_OFFER)), st.integers(0, 20), _put())
def test_any_description_is_usable_or_refused(at: int, length: int, put: bytes) -> None:
    """Nothing but `Unusable` is ever raised, and an answer can be written to what is taken."""
    try:
        session = sdp.parse(_OFFER[:at] + put + _OFFER[at + length :])
    except sdp.Unusable:
        return
    own = sdp.Own(session_id=1, version=1, host="192.0.2.2", port=4002)
    assert sdp.answer(own, session).startswith(b"v=0\r\n")
