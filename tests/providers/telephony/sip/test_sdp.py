"""Descriptions of sound: offers, answers, and those that no call can be held by."""

import pytest

from tillhouse.providers.telephony.sip import sdp

_HEAD = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n"
_OWN = sdp.Own(session_id=7, version=3, host="192.0.2.9", port=4002)


def _parse(text: str) -> sdp.SessionDescription:
    return sdp.parse((_HEAD + text).encode())


def test_our_own_offer_reads_as_it_was_meant() -> None:
    """Both laws in order, keys, both ways."""
    session = sdp.parse(sdp.offer(_OWN))
    assert (session.host, session.port, session.keys_type) == ("192.0.2.9", 4002, 101)
    assert list(session.laws) == [(0, "PCMU"), (8, "PCMA")]
    assert session.direction == "sendrecv"


def test_the_numbers_of_the_other_side_count() -> None:
    """Types may have any number, and the order is the preference."""
    session = _parse(
        "m=audio 4000 RTP/AVP 96 8 97\r\na=rtpmap:96 G722/8000\r\n"
        "a=rtpmap:97 telephone-event/8000\r\n"
    )
    assert list(session.laws) == [(8, "PCMA")]
    assert session.keys_type == 97


def test_an_answer_takes_one_stream_and_refuses_the_others() -> None:
    """As many streams as the offer, in its order; the direction is turned around."""
    session = _parse(
        "m=video 5000 RTP/AVP 31\r\nm=audio 4000 RTP/AVP 8 0 101\r\n"
        "c=IN IP4 192.0.2.2\r\na=rtpmap:101 telephone-event/8000\r\na=sendonly\r\n"
    )
    assert session.host == "192.0.2.2"
    assert session.is_held
    text = sdp.answer(_OWN, session).decode()
    assert text.index("m=video 0 RTP/AVP 31") < text.index("m=audio 4002 RTP/AVP 8 101")
    assert "a=recvonly" in text


@pytest.mark.parametrize(
    ("line", "direction"),
    [("c=IN IP4 0.0.0.0", "inactive"), ("a=inactive", "inactive"), ("a=recvonly", "recvonly")],
)
def test_directions_are_read(line: str, direction: str) -> None:
    """Also a hold as it was once written: by an address that is none."""
    assert _parse(f"m=audio 4000 RTP/AVP 0\r\n{line}\r\n").direction == direction


@pytest.mark.parametrize(
    "text",
    ["", "m=audio 0 RTP/AVP 0\r\n", "m=audio 4000 RTP/SAVP 0\r\n", "m=audio 4000 RTP/AVP 3\r\n",
     "m=audio 70000 RTP/AVP 0\r\n", "m=audio 4000 RTP/AVP 0\r\nc=IN IP4 224.0.0.1\r\n",
     "m=audio 4000 RTP/AVP 0\r\nc=IN IP4 1.2.3.4.5\r\n", "m=audio 4000 RTP/AVP 0\r\n" * 17,
     "m=audio 4000 RTP/AVP 8\r\na=rtpmap:8 PCMA/16000\r\n", "a=x\r\n" * 3000],
)  # fmt: skip
def test_what_carries_no_call_is_refused(text: str) -> None:
    """No stream, no law, encryption, a group of hosts, or no end."""
    with pytest.raises(sdp.Unusable):
        _parse(text)
