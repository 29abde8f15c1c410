"""Signatures against fixed vectors and other people's signers, and what must not verify."""

import hashlib
import hmac
import json
import time
from datetime import UTC, datetime
from uuid import UUID

import pytest
import standardwebhooks
import stripe

from tillhouse.kit.secrets import new_webhook_secret
from tillhouse.webhooks.signing import headers, service_signature, standard_signature

# The vector that Standard Webhooks and Svix have in their own tests.
PUBLIC_KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PUBLIC_ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
PUBLIC_TIME = 1614265330
PUBLIC_BODY = b'{"test": 2432232314}'
PUBLIC_SIGNATURE = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

BODIES = [b"{}", b'{"a":1}', '{"é":"日本"}'.encode(), b" " * 100_000, b'{"t":"%d."}']


def test_the_public_vector_comes_out() -> None:
    """Byte for byte, with and without the secret's mark."""
    for secret in (PUBLIC_KEY, PUBLIC_KEY.removeprefix("whsec_")):
        made = standard_signature(secret, PUBLIC_ID, PUBLIC_BODY, PUBLIC_TIME)
        assert made == PUBLIC_SIGNATURE


@pytest.mark.parametrize("body", BODIES)
def test_other_signers_sign_alike(body: bytes) -> None:
    """Stripe's signer makes our header, Standard Webhooks' our signature."""
    secret, at = new_webhook_secret(), int(time.time())
    event_id = UUID(int=7)
    ours = headers(secret, event_id, "order.created", body, at)
    theirs = stripe.WebhookSignature.generate_signature_header(body.decode(), secret, timestamp=at)
    assert ours["Service-Signature"] == theirs
    signer = standardwebhooks.Webhook(secret)
    moment = datetime.fromtimestamp(at, UTC)
    assert ours["webhook-signature"] == signer.sign(str(event_id), moment, body.decode())


def test_the_contract_s_own_words_make_the_signature() -> None:
    """Lower-case hexadecimal HMAC-SHA256 over `<t>.<raw body>`, the whole secret as the key."""
    secret = new_webhook_secret()
    expected = hmac.new(secret.encode(), b"1700000000." + b'{"a":1}', hashlib.sha256).hexdigest()
    assert service_signature(secret, b'{"a":1}', 1_700_000_000) == expected
    made = headers(secret, UUID(int=1), "order.created", b'{"a":1}', 1_700_000_000)
    assert made["Service-Signature"] == f"t=1700000000,v1={expected}"
    assert set(made) == {
        "Content-Type", "Service-Signature", "Service-Webhook-Id", "Service-Webhook-Event",
        "webhook-id", "webhook-timestamp", "webhook-signature",
    }  # fmt: skip


def _verifies(body: bytes, header: str, secret: str) -> bool:
    try:
        return bool(stripe.WebhookSignature.verify_header(body.decode(), header, secret, 300))
    except stripe.SignatureVerificationError:
        return False


def test_what_was_tampered_with_does_not_verify() -> None:
    """Another body, another time, another secret, an old signature, another separator."""
    secret, at = new_webhook_secret(), int(time.time())
    body = json.dumps({"id": "1", "total": 12}).encode()
    header = headers(secret, UUID(int=1), "order.created", body, at)["Service-Signature"]
    assert _verifies(body, header, secret)
    assert not _verifies(body + b" ", header, secret)
    assert not _verifies(body.replace(b"12", b"13"), header, secret)
    assert not _verifies(json.dumps({"total": 12, "id": "1"}).encode(), header, secret)
    assert not _verifies(body, header.replace(f"t={at}", f"t={at + 1}"), secret)
    assert not _verifies(body, header, new_webhook_secret())
    assert not _verifies(body, header, secret.removeprefix("whsec_"))
    old = at - 301
    assert not _verifies(body, f"t={old},v1={service_signature(secret, body, old)}", secret)
    assert _verifies(body, f"t={at - 290},v1={service_signature(secret, body, at - 290)}", secret)
    comma = hmac.new(secret.encode(), f"{at},".encode() + body, hashlib.sha256).hexdigest()
    assert not _verifies(body, f"t={at},v1={comma}", secret)


@pytest.mark.parametrize("seconds", [-301, 310])
def test_standard_webhooks_refuse_other_times(seconds: int) -> None:
    """Old and future ones; the future comes nearer while this runs."""
    secret = new_webhook_secret()
    made = headers(secret, UUID(int=1), "order.created", b"{}", int(time.time()) + seconds)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret).verify(b"{}", {k.lower(): v for k, v in made.items()})
