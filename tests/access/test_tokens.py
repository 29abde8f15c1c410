"""Access tokens: whatever is not the very text that we signed is 401."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import jwt
import pytest

from tests.make import Business, Make
from tillhouse.access.process import Services

ME = "/api/auth/me"
HEADER = {"alg": "HS256", "typ": "JWT"}


def encoded(part: object) -> str:
    """A part of a token: JSON, or bytes as they are, in base64 without padding."""
    raw = part if isinstance(part, bytes) else json.dumps(part, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Forger:
    """Knows a good token and, where a case wants it, even the key."""

    def __init__(self, good: str, other: str, key: bytes) -> None:
        self.good = good
        self.key = key
        self.claims: dict[str, Any] = self.read(good)
        self.others: dict[str, Any] = self.read(other)
        self.header, self.payload, self.signature = good.split(".")

    @staticmethod
    def read(token: str) -> dict[str, Any]:
        """The claims of a token, unverified."""
        return jwt.decode(token, options={"verify_signature": False})

    def sign(
        self, header: object, payload: object, key: bytes | None = None, name: str = "sha256"
    ) -> str:
        """A token with any header and payload."""
        signed = f"{encoded(header)}.{encoded(payload)}"
        mac = hmac.digest(self.key if key is None else key, signed.encode(), name)
        return f"{signed}.{encoded(mac)}"

    def with_header(self, **fields: Any) -> str:
        """The good claims under another header, signed with the right key."""
        return self.sign({**HEADER, **fields}, self.claims)

    def with_claims(self, **fields: Any) -> str:
        """Other claims, signed with the right key; None leaves a claim out."""
        claims = {**self.claims, **fields}
        return self.sign(HEADER, {n: v for n, v in claims.items() if v is not None})

    def raw(self, old: str, new: str) -> str:
        """The claims' JSON with a part of its text replaced, signed with the right key."""
        text = json.dumps(self.claims, separators=(",", ":"))
        assert old in text
        return self.sign(HEADER, text.replace(old, new, 1).encode())


Forge = Callable[[Forger], str]

UNSIGNED: dict[str, Forge] = {
    "alg none": lambda f: f"{encoded({'alg': 'none', 'typ': 'JWT'})}.{f.payload}.",
    "alg None": lambda f: f"{encoded({'alg': 'None', 'typ': 'JWT'})}.{f.payload}.",
    "alg NONE with the signature": lambda f: (
        f"{encoded({'alg': 'NONE', 'typ': 'JWT'})}.{f.payload}.{f.signature}"
    ),
    "alg nOnE signed": lambda f: f.with_header(alg="nOnE"),
    "no alg": lambda f: f.sign({"typ": "JWT"}, f.claims),
    "alg null": lambda f: f.with_header(alg=None),
    "alg list": lambda f: f.with_header(alg=["HS256"]),
    "alg in lower case": lambda f: f.with_header(alg="hs256"),
    "alg with a space": lambda f: f.with_header(alg="HS256 "),
    "alg HS512": lambda f: f.sign({**HEADER, "alg": "HS512"}, f.claims, name="sha512"),
    "alg HS384": lambda f: f.sign({**HEADER, "alg": "HS384"}, f.claims, name="sha384"),
    "alg RS256": lambda f: f.with_header(alg="RS256"),
    "alg ES256": lambda f: f.with_header(alg="ES256"),
    "alg EdDSA": lambda f: f.with_header(alg="EdDSA"),
    "no signature": lambda f: f"{f.header}.{f.payload}.",
    "two parts": lambda f: f"{f.header}.{f.payload}",
    "four parts": lambda f: f"{f.good}.{f.signature}",
    "empty parts": lambda _: "..",
    "empty header": lambda f: f".{f.payload}.{f.signature}",
    "empty payload": lambda f: f"{f.header}..{f.signature}",
    "another key": lambda f: f.sign(HEADER, f.claims, b"x" * 32),
    "an empty key": lambda f: f.sign(HEADER, f.claims, b""),
    "the key's digest as key": lambda f: f.sign(HEADER, f.claims, hashlib.sha256(f.key).digest()),
    "signature of zeros": lambda f: f"{f.header}.{f.payload}.{'A' * 43}",
    "signature of other claims": lambda f: f"{f.header}.{encoded(f.others)}.{f.signature}",
}
HEADERS: dict[str, Forge] = {
    "kid traversal": lambda f: f.with_header(kid="../../../../dev/null"),
    "kid sql": lambda f: f.with_header(kid="x' UNION SELECT 'key"),
    "kid huge": lambda f: f.with_header(kid="k" * 1000),
    "kid empty": lambda f: f.with_header(kid=""),
    "kid number": lambda f: f.with_header(kid=5),
    "jku": lambda f: f.with_header(jku="https://evil.example/keys.json"),
    "jwk": lambda f: f.with_header(jwk={"kty": "oct", "k": encoded(b"x" * 32)}),
    "x5u": lambda f: f.with_header(x5u="https://evil.example/cert.pem"),
    "x5c": lambda f: f.with_header(x5c=["MIIB"]),
    "crit": lambda f: f.with_header(crit=["exp"]),
    "b64 false": lambda f: f.with_header(b64=False, crit=["b64"]),
    "zip": lambda f: f.with_header(zip="DEF"),
    "cty": lambda f: f.with_header(cty="JWT"),
    "typ of another kind": lambda f: f.with_header(typ="at+jwt"),
    "typ in lower case": lambda f: f.with_header(typ="jwt"),
    "typ missing": lambda f: f.sign({"alg": "HS256"}, f.claims),
    "header in another order": lambda f: f.sign({"typ": "JWT", "alg": "HS256"}, f.claims),
    "header that is a list": lambda f: f.sign(["HS256"], f.claims),
    "header that is no json": lambda f: f.sign(b"{alg:HS256}", f.claims),
    "header with duplicate alg": lambda f: f.sign(
        b'{"alg":"none","alg":"HS256","typ":"JWT"}', f.claims
    ),
    "header nested deep": lambda f: f.sign(b"[" * 900, f.claims),
}
CLAIMS: dict[str, Forge] = {
    "aud of another": lambda f: f.with_claims(aud="tillhouse-api"),
    "aud list": lambda f: f.with_claims(aud=[f.claims["aud"]]),
    "aud missing": lambda f: f.with_claims(aud=None),
    "iss of another": lambda f: f.with_claims(iss="https://evil.example"),
    "iss list": lambda f: f.with_claims(iss=[f.claims["iss"]]),
    "iss missing": lambda f: f.with_claims(iss=None),
    "exp past": lambda f: f.with_claims(exp=f.claims["iat"] - 1, iat=f.claims["iat"] - 901),
    "exp at the moment": lambda f: f.with_claims(exp=f.claims["iat"], iat=f.claims["iat"] - 900),
    "exp later than ours": lambda f: f.with_claims(exp=f.claims["exp"] + 3600),
    "exp text": lambda f: f.with_claims(exp=str(f.claims["exp"])),
    "exp float": lambda f: f.with_claims(exp=f.claims["exp"] + 0.5),
    "exp huge": lambda f: f.with_claims(exp=10**30),
    "exp infinite": lambda f: f.raw(f'"exp":{f.claims["exp"]}', '"exp":Infinity'),
    "exp not a number": lambda f: f.raw(f'"exp":{f.claims["exp"]}', '"exp":NaN'),
    "exp negative": lambda f: f.with_claims(exp=-1),
    "exp true": lambda f: f.with_claims(exp=True),
    "exp list": lambda f: f.with_claims(exp=[f.claims["exp"]]),
    "exp missing": lambda f: f.with_claims(exp=None),
    "nbf future": lambda f: f.with_claims(nbf=f.claims["exp"]),
    "iat future": lambda f: f.with_claims(iat=f.claims["iat"] + 600, exp=f.claims["exp"] + 600),
    "iat infinite": lambda f: f.raw(f'"iat":{f.claims["iat"]}', '"iat":Infinity'),
    "iat text": lambda f: f.with_claims(iat=str(f.claims["iat"])),
    "iat missing": lambda f: f.with_claims(iat=None),
    "sub unknown": lambda f: f.with_claims(sub=str(uuid4())),
    "sub of another": lambda f: f.with_claims(sub=f.others["sub"]),
    "sub number": lambda f: f.with_claims(sub=1),
    "sub sql": lambda f: f.with_claims(sub="' OR 1=1 --"),
    "sub as urn": lambda f: f.with_claims(sub=f"urn:uuid:{f.claims['sub']}"),
    "sub in capitals": lambda f: f.with_claims(sub=f.claims["sub"].upper()),
    "sid unknown": lambda f: f.with_claims(sid=str(uuid4())),
    "sid of another": lambda f: f.with_claims(sid=f.others["sid"]),
    "sid missing": lambda f: f.with_claims(sid=None),
    "bid of another": lambda f: f.with_claims(bid=f.others["bid"]),
    "bid list": lambda f: f.with_claims(bid=[f.claims["bid"]]),
    "sub and sid of another": lambda f: f.with_claims(sub=f.others["sub"], sid=f.others["sid"]),
    "bid and sid of another": lambda f: f.with_claims(bid=f.others["bid"], sid=f.others["sid"]),
    "one claim more": lambda f: f.with_claims(role="owner"),
    "duplicate sub": lambda f: f.raw('{"iss"', f'{{"sub":"{f.others["sub"]}","iss"'),
    "duplicate exp": lambda f: f.raw('{"iss"', '{"exp":99999999999,"iss"'),
    "claims that are a list": lambda f: f.sign(HEADER, [f.claims]),
    "claims that are null": lambda f: f.sign(HEADER, None),
    "claims that are no json": lambda f: f.sign(HEADER, b"\xff\xfe"),
    "claims with spaces": lambda f: f.raw('","', '", "'),
    "claims nested deep": lambda f: f.sign(HEADER, b"[" * 1000),
}
TEXTS: dict[str, Forge] = {
    "64 KB": lambda f: f.with_claims(note="x" * 65_536),
    "padding": lambda f: f.good + "=",
    "padding within": lambda f: f"{f.header}=.{f.payload}.{f.signature}",
    "letters outside base64 after it": lambda f: f.good + "!!!!",
    "a line break within": lambda f: f"{f.header}.{f.payload}.{f.signature[:9]}\n{f.signature[9:]}",
    "a space within": lambda f: f"{f.header}.{f.payload}.{f.signature[:9]} {f.signature[9:]}",
    "spare bits of the last letter": lambda f: f.good[:-1] + _sibling(f.good[-1]),
    "the other base64": lambda f: f.sign(HEADER, {**f.claims, "x": "???>>>"}).replace("_", "/"),
    "unicode": lambda f: f.good[:-1] + "\xe9",
    "full-width letters": lambda f: f"{f.header}.{f.payload}.\xff{f.signature}",
    "NUL": lambda f: f.good + "\x00",
    "quotes": lambda f: f'"{f.good}"',
    "twice": lambda f: f"{f.good},{f.good}",
    "only dots": lambda _: "." * 1000,
    "JWE": lambda f: f"{f.good}.{f.payload}.{f.signature}",
}
FORGERIES = {**UNSIGNED, **HEADERS, **CLAIMS, **TEXTS}


def _sibling(letter: str) -> str:
    """Another last letter that the same bytes decode from."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return letters[letters.index(letter) ^ 1]


@pytest.fixture
async def forger(make: Make, services: Services) -> Forger:
    """Two people's good tokens, and the key itself."""
    one, two = await make.business(), await make.business()
    key = services.vault.derive("access tokens")
    return Forger(one.tokens["accessToken"], two.tokens["accessToken"], key)


async def test_a_forger_with_the_key_can_sign(make: Make, forger: Forger) -> None:
    """Otherwise the cases below would prove nothing."""
    token = forger.sign(HEADER, forger.claims)
    assert token == forger.good
    await make.anybody.as_bearer(token).get(ME, status=200)


@pytest.mark.parametrize("group", [UNSIGNED, HEADERS, CLAIMS, TEXTS], ids=len)
async def test_a_forged_token_is_refused(
    make: Make, forger: Forger, group: dict[str, Forge]
) -> None:
    """401 in the usual envelope, on a route of people and on one of keys."""
    for name, forge in group.items():
        client = make.anybody.as_bearer(forge(forger))
        for path in (ME, "/v1/voice/health"):
            answer = await client.get(path)
            assert (answer.status, answer.error) == (401, "unauthorized"), (name, path)


def test_there_are_many_forgeries() -> None:
    """The bar asks for forty."""
    assert len(FORGERIES) >= 40


async def test_a_token_tells_no_more_than_ids(business: Business) -> None:
    """Name, address and role are the database's, as of now."""
    claims = Forger.read(business.tokens["accessToken"])
    assert claims.keys() == {"iss", "aud", "sub", "sid", "bid", "iat", "exp"}
    assert claims["exp"] - claims["iat"] == 900
