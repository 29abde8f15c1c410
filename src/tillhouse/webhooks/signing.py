"""Signatures that other people's libraries verify: Stripe's form and that of Standard Webhooks."""

import base64
import hashlib
import hmac

from tillhouse.kit.ids import EventId

_MARK = "whsec_"


def headers(
    secret: str, event_id: EventId, event_type: str, body: bytes, at: int
) -> dict[str, str]:
    """The headers of one attempt at a unix time."""
    return {
        "Content-Type": "application/json",
        "Service-Signature": f"t={at},v1={service_signature(secret, body, at)}",
        "Service-Webhook-Id": str(event_id),
        "Service-Webhook-Event": event_type,
        "webhook-id": str(event_id),
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{standard_signature(secret, str(event_id), body, at)}",
    }


def service_signature(secret: str, body: bytes, at: int) -> str:
    """Hexadecimal HMAC-SHA256 over `t.body`; the key is the whole secret, its mark included."""
    return hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()


def standard_signature(secret: str, message_id: str, body: bytes, at: int) -> str:
    """Base64 HMAC-SHA256 over `id.t.body`; the key is the decoded base64 of the secret."""
    key = base64.b64decode(secret.removeprefix(_MARK))
    signed = f"{message_id}.{at}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
