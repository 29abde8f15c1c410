"""Callbacks of Twilio: their signatures, and what they tell."""

from urllib.parse import urlencode

import pytest

from tests.providers.telephony.twilio.simulator import AUTH_TOKEN, Callback
from tillhouse.providers.telephony.twilio import hooks

_URL = "https://till.example.com/hooks/twilio/1?attempt=2"
_SID = "CA" + "0" * 32
_FIELDS = {
    "CallSid": _SID, "CallStatus": "ringing", "SequenceNumber": "1", "From": "+14155550100",
    "To": "+2348012345678", "Caller": "Ọbádélé & Söhne", "ForwardedFrom": "",
}  # fmt: skip

# The published vectors of Twilio's own library: its token is 12345.
_TOKEN = "12345"
_VECTOR = "https://mycompany.com/myapp.php?foo=1&bar=2"
_FORM = (
    b"CallSid=CA1234567890ABCDE&Digits=1234&From=%2B14158675309&To=%2B18005551212"
    b"&Caller=%2B14158675309"
)
_JSON = b'{"property": "value", "boolean": true}'
_HASH = "0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620"


@pytest.mark.parametrize(
    ("url", "raw", "signature"),
    [
        (_VECTOR, _FORM, "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
        (_VECTOR.replace(".com", ".com:1234"), _FORM, "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
        ("http" + _VECTOR[5:].replace(".com", ".com:1234"), _FORM, "Zmvh+3yNM1Phv2jhDCwEM3q5ebU="),
        (_VECTOR, _FORM, "kvajT1Ptam85bY51eRf/AJRuM3w="),
        ("http" + _VECTOR[5:], _FORM, "0ZXoZLH/DfblKGATFgpif+LLRf4="),
        (f"{_VECTOR}&bodySHA256={_HASH}", _JSON, "a9nBmqA0ju/hNViExpshrM61xv4="),
        (_VECTOR, b"Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234",
         "IK+Dwps556ElfBT0I3Rgjkr1wJU="),
    ],
)  # fmt: skip
def test_signatures_are_those_of_twilio(url: str, raw: bytes, signature: str) -> None:
    """With a port, without, with the usual one, of JSON, and of a field that comes twice."""
    headers = {hooks.SIGNATURE: signature}
    assert hooks.verify(url, headers, raw, _TOKEN)
    assert not hooks.verify(url, headers, raw, "12346")
    assert not hooks.verify(url.replace("mycompany", "yourcompany"), headers, raw, _TOKEN)
    assert not hooks.verify(url, headers, raw + b"1", _TOKEN)


def _signed(**more: str) -> Callback:
    return Callback(_URL, urlencode(_FIELDS | more).encode())


def test_a_callback_is_taken_from_twilio_alone() -> None:
    """Forged, unsigned, cut, lengthened, sent elsewhere or of a megabyte: refused."""
    good = _signed()
    assert hooks.verify(_URL, good.headers, good.body, AUTH_TOKEN)
    forged = Callback(_URL, good.body, "another-token").headers
    assert not hooks.verify(_URL, forged, good.body, AUTH_TOKEN)
    assert not hooks.verify(_URL, {}, good.body, AUTH_TOKEN)
    assert not hooks.verify(_URL, {hooks.SIGNATURE: "ü€"}, good.body, AUTH_TOKEN)
    assert not hooks.verify(_URL, good.headers, good.body[:-9], AUTH_TOKEN)
    assert not hooks.verify(_URL, good.headers, good.body + b"&CallStatus=busy", AUTH_TOKEN)
    assert not hooks.verify(_URL.replace("=2", "=3"), good.headers, good.body, AUTH_TOKEN)
    large = Callback(_URL, b"CallSid=" + b"1" * 1024 * 1024)
    assert not hooks.verify(_URL, large.headers, large.body, AUTH_TOKEN)
    many = Callback(_URL, urlencode({str(number): "1" for number in range(1000)}).encode())
    assert not hooks.verify(_URL, many.headers, many.body, AUTH_TOKEN)


def test_a_body_of_another_hash_is_refused() -> None:
    """A signature over an address that names a hash counts only for the body of this hash."""
    url = f"{_VECTOR}&bodySHA256={_HASH}"
    headers = {hooks.SIGNATURE: "a9nBmqA0ju/hNViExpshrM61xv4="}
    assert not hooks.verify(url, headers, _JSON + b" ", _TOKEN)
    assert not hooks.verify(url, headers, b"", _TOKEN)


def test_a_callback_tells_of_a_call() -> None:
    """Its status, its place in the order, and why the call failed."""
    told = hooks.parse(
        _signed(CallStatus="failed", SequenceNumber="12", SipResponseCode="603",
                ErrorCode="13227", ErrorMessage="No permission", AnsweredBy="human").body
    )  # fmt: skip
    assert told == hooks.Update(
        sid=_SID, status="failed", sequence=12, answered_by="human", sip_status=603,
        error_code=13227, words="No permission",
    )  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [{"CallSid": "CA1"}, {"CallSid": "../../etc"}, {"CallStatus": "exploded"}, {"CallStatus": ""},
     {"SequenceNumber": "-1"}, {"SequenceNumber": "٣"}, {"SequenceNumber": "9" * 5000}],
)  # fmt: skip
def test_a_callback_that_tells_nothing_is_none(fields: dict[str, str]) -> None:
    """Broken values are no progress, and no error."""
    assert hooks.parse(_signed(**fields).body) is None


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"%ff=%ff", b"{}", b"&" * 5000])
def test_a_body_that_is_no_form_is_none(raw: bytes) -> None:
    """Of any bytes."""
    assert hooks.parse(raw) is None
