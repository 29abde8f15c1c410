"""Digest authentication, by the examples of its RFCs."""

import pytest

from tillhouse.providers.telephony.sip.digest import DigestAnswer, DigestCredentials, choose
from tillhouse.providers.telephony.sip.message import Response, parse
from tillhouse.providers.telephony.sip.own_side import Authorization

_NONCE = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
_OWN_NONCE = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"


def _response(challenge: str, password: str, own_nonce: str) -> str:
    found = choose([challenge])
    assert found is not None
    answer = DigestAnswer(
        challenge=found, method="GET", uri="/dir/index.html", count=1, own_nonce=own_nonce
    )
    header = answer.header(DigestCredentials("Mufasa", password))
    return header.split('response="')[1].split('"')[0]


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_the_examples_of_rfc_7616(algorithm: str, response: str) -> None:
    """Both hashes give what the RFC prints."""
    challenge = (
        f'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm={algorithm}, '
        f'nonce="{_NONCE}", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
    )
    assert _response(challenge, "Circle of Life", _OWN_NONCE) == response


def test_the_example_of_rfc_2617() -> None:
    """A challenge that names no algorithm means MD5."""
    challenge = (
        'Digest realm="testrealm@host.com", qop="auth,auth-int", '
        'nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"'
    )
    expected = "6629fae49393a05397450978507c4ef1"
    assert _response(challenge, "Circle Of Life", "0a4f113b") == expected


def _header(challenge: str, username: str) -> str:
    found = choose([challenge])
    assert found is not None
    answer = DigestAnswer(challenge=found, method="INVITE", uri="sip:a", count=1, own_nonce="c")
    return answer.header(DigestCredentials(username, "p"))


def test_a_challenge_without_quality_is_answered_as_of_old() -> None:
    """RFC 2069: no count and no nonce of ours."""
    header = _header('Digest realm="a", nonce="b"', "u")
    assert "cnonce" not in header
    assert "nc=" not in header


@pytest.mark.parametrize(
    "challenge",
    ["", "Basic realm=x", "Digest", 'Digest realm="a"', 'Digest realm="a", nonce="b',
     'Digest realm="a", nonce="b", algorithm=AKAv1-MD5',
     'Digest realm="", nonce="b", qop="auth-int"'],
)  # fmt: skip
def test_a_challenge_that_nobody_can_answer_is_passed_over(challenge: str) -> None:
    """The next one of the same response may be known."""
    good = 'Digest realm="a", nonce="n", algorithm=SHA-256, qop="auth"'
    assert choose([challenge]) is None
    assert choose([challenge, good]) == choose([good])


def test_quotes_in_a_name_cannot_end_it() -> None:
    """A name with quotes stays one value."""
    header = _header('Digest realm="a", nonce="b"', 'a", uri="x')
    assert r'username="a\", uri=\"x",' in header


def test_secrets_are_not_shown() -> None:
    """Credentials are printed without their password."""
    assert "hunter2" not in repr(DigestCredentials("me", "hunter2"))


def _challenged(status: int, challenge: str) -> Response:
    name = "WWW-Authenticate" if status == 401 else "Proxy-Authenticate"
    message = parse(
        f"SIP/2.0 {status} Who\r\nVia: SIP/2.0/UDP a;branch=b\r\nFrom: <sip:a@b>;tag=1\r\n"
        f"To: <sip:a@b>\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\n{name}: {challenge}\r\n\r\n".encode()
    )
    assert isinstance(message, Response)
    return message


def test_the_same_question_twice_ends_it_unless_the_nonce_was_stale() -> None:
    """A wrong password is tried once; a nonce that grew old is replaced, but not for ever."""
    plain, stale = 'Digest realm="a", nonce="1"', 'Digest realm="a", nonce="2", stale=TRUE'
    authorization = Authorization(DigestCredentials("u", "p"))
    assert authorization.learn(_challenged(401, plain))
    assert not authorization.learn(_challenged(401, plain))
    authorization.begin()
    tries = [authorization.learn(_challenged(407, stale)) for _ in range(6)]
    assert tries == [True] * 4 + [False] * 2


def test_nothing_is_answered_without_credentials() -> None:
    """A softphone that asks for a password gets none."""
    authorization = Authorization(None)
    assert not authorization.learn(_challenged(401, 'Digest realm="a", nonce="1"'))
    assert authorization.headers("INVITE", "sip:a@b") == []


def test_each_use_of_a_nonce_is_counted() -> None:
    """Servers refuse a count that they saw already."""
    authorization = Authorization(DigestCredentials("u", "p"))
    authorization.learn(_challenged(407, 'Digest realm="a", nonce="1", qop="auth"'))
    headers = [authorization.headers("INVITE", "sip:a@b")[0] for _ in range(2)]
    assert [name for name, _ in headers] == ["proxy-authorization"] * 2
    assert ["nc=00000001" in headers[0][1], "nc=00000002" in headers[1][1]] == [True, True]
