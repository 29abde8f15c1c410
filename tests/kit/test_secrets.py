"""Credentials: recognised by form, sealed tightly, compared blindly."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.ids import BASE62
from tillhouse.kit.secrets import (
    Environment,
    ParsedKey,
    SealBroken,
    derive,
    digest,
    new_api_key,
    new_secret,
    new_webhook_secret,
    open_sealed,
    parse_api_key,
    same,
    seal,
    secret_prefix,
)

ENVIRONMENTS = st.sampled_from(["test", "live"])
KEY = bytes(range(32))


@given(ENVIRONMENTS)
def test_a_new_key_is_recognised_and_keeps_its_public_part(environment: Environment) -> None:
    """Rotation changes the secret alone."""
    key = new_api_key(environment)
    assert key.public.startswith(f"thpk_{environment}_")
    assert parse_api_key(key.secret) == ParsedKey(environment, key.public)
    rotated = new_secret(environment, key.public)
    assert rotated != key.secret
    assert parse_api_key(rotated) == ParsedKey(environment, key.public)


@given(ENVIRONMENTS, st.integers(0, 71), st.sampled_from(BASE62 + "_- \n\0é") | st.characters())
def test_a_secret_with_one_changed_character_is_refused(
    environment: Environment, place: int, character: str
) -> None:
    """The checksum finds every typo before the database is asked."""
    secret = new_api_key(environment).secret
    changed = secret[:place] + character + secret[place + 1 :]
    assert (parse_api_key(changed) is None) == (changed != secret)


@given(ENVIRONMENTS, st.integers(0, 70))
def test_a_secret_cut_swapped_or_extended_is_refused(environment: Environment, at: int) -> None:
    """Copying badly is found too."""
    secret = new_api_key(environment).secret
    swapped = secret[:at] + secret[at + 1] + secret[at] + secret[at + 2 :]
    assert (parse_api_key(swapped) is None) == (swapped != secret)
    for text in (secret[:at], secret + "A", secret + "\n", " " + secret, secret[1:]):
        assert parse_api_key(text) is None


@given(st.text(max_size=80) | st.text(st.characters(codec=None), min_size=72, max_size=72))
def test_no_text_makes_parsing_fail(text: str) -> None:
    """Garbage is no key, and no error."""
    assert parse_api_key(text) is None


def test_another_environment_is_another_key() -> None:
    """A test secret can't be renamed to live, nor rotated into it."""
    key = new_api_key("test")
    assert parse_api_key(key.secret.replace("_test_", "_live_")) is None
    assert parse_api_key(key.public) is None
    assert parse_api_key("x" * 10_000_000) is None
    for public in (key.public, "thpk_live_short", key.secret):
        with pytest.raises(ValueError, match="not a public key"):
            new_secret("live", public)


def test_what_is_shown_of_a_secret_is_not_enough_to_use_it() -> None:
    """The prefix names the key; logs never hold the rest."""
    key = new_api_key("test")
    prefix = secret_prefix(key.secret)
    assert len(prefix) == 27
    assert key.secret.startswith(prefix)
    assert key.public.removeprefix("thpk_") in prefix
    assert key.secret not in repr(key)


def test_a_webhook_secret_is_standard_base64_of_32_bytes() -> None:
    """Libraries for Standard Webhooks take it as it is."""
    secret = new_webhook_secret()
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert secret != new_webhook_secret()


@given(st.binary(min_size=1), st.text(st.characters(codec="utf-8")))
def test_a_digest_is_an_hmac(pepper: bytes, secret: str) -> None:
    """The lookup hash is the plain standard one."""
    expected = hmac.new(pepper, secret.encode(), hashlib.sha256).digest()
    assert digest(pepper, secret) == expected


def test_each_purpose_has_its_own_key() -> None:
    """Derived keys are stable and tell nothing about each other (RFC 5869 by hand)."""
    extracted = hmac.digest(bytes(32), KEY, "sha256")
    assert derive(KEY, "sessions") == hmac.digest(extracted, b"sessions\x01", "sha256")
    assert derive(KEY, "sessions") != derive(KEY, "keys")
    assert len(derive(KEY, "keys", length=64)) == 64


@given(st.binary(max_size=200), st.binary(max_size=50))
def test_what_is_sealed_opens_with_the_same_key_and_data(plain: bytes, associated: bytes) -> None:
    """And looks different each time."""
    sealed = seal(KEY, plain, associated)
    assert open_sealed(KEY, sealed, associated) == plain
    assert sealed != seal(KEY, plain, associated)


@given(st.binary(max_size=50), st.binary(max_size=20), st.data())
def test_a_broken_seal_is_noticed(plain: bytes, associated: bytes, data: st.DataObject) -> None:
    """A flipped bit, a cut, another key or another record: nothing opens."""
    sealed = seal(KEY, plain, associated)
    bit = data.draw(st.integers(0, len(sealed) * 8 - 1))
    flipped = (int.from_bytes(sealed) ^ (1 << bit)).to_bytes(len(sealed))
    cut = sealed[: data.draw(st.integers(0, len(sealed) - 1))]
    for key, text, bound in (
        (KEY, flipped, associated),
        (KEY, cut, associated),
        (bytes(32), sealed, associated),
        (KEY, sealed, associated + b"x"),
    ):
        with pytest.raises(SealBroken):
            open_sealed(key, text, bound)


def test_a_key_of_the_wrong_size_is_our_mistake() -> None:
    """A short key would mean weaker encryption, so it is no broken seal but an error."""
    for attempt in (seal, open_sealed):
        with pytest.raises(ValueError, match="32 bytes"):
            attempt(bytes(16), b"", b"")


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_comparing_answers_like_equality(left: str, right: str) -> None:
    """Odd characters included."""
    assert same(left, right) == (left == right)
    assert same(left, left)
    assert same(b"a", "a")
