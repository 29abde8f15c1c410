"""Where telephony providers call: kept for the process that makes the call, which is told.

A callback can be sent again at any time, since its signature has no time. So it only ever adds to
what is known: an older one than the latest, and one of an attempt that is over, change nothing.
"""

from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.errors import Missing, Unauthenticated, existing
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.providers.telephony import telephones
from tillhouse.providers.telephony.provider import NumberAccount
from tillhouse.providers.telephony.telephones import Callback
from tillhouse.settings import Settings
from tillhouse.voice.hooks import store
from tillhouse.voice.numbers.actions import unseal

_TEXT = "text/plain; charset=utf-8"
_PATH = "/hooks/{provider}/{book_id}/{attempt_id}"


class VoiceHookNotSigned(Unauthenticated, message="The signature doesn't fit the body."):
    """Somebody else than the provider calls, or with another account."""


async def check(_services: Services, asked: RawRequest) -> None:
    """Refuse a caller that is no provider before its body is read."""
    asked.ids("book_id", "attempt_id")
    signature = telephones.SIGNATURES.get(asked.path["provider"])
    if signature is None:
        raise Missing
    if not asked.header(signature):
        raise VoiceHookNotSigned


async def take(services: Services, asked: RawRequest) -> RawAnswer:
    """Keep a callback, once its signature fits the public address."""
    book_id, attempt_id = asked.ids("book_id", "attempt_id")
    provider = asked.path["provider"]
    account = await _account(services, provider, book_id, attempt_id)
    url = callback_url(services.settings, provider, book_id, attempt_id)
    headers = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in asked.headers.items()
    }
    if url is None or asked.query:
        raise VoiceHookNotSigned
    callback = Callback(provider=provider, url=url, headers=headers, body=asked.body)
    if not telephones.is_genuine(callback, account):
        raise VoiceHookNotSigned
    number = telephones.number_of(asked.body)
    if number is not None:
        async with services.pool.transaction() as db:
            await store.update_told(db, book_id, attempt_id, number, asked.body)
    return RawAnswer(_TEXT, b"")


async def _account(
    services: Services, provider: str, book_id: UUID, attempt_id: UUID
) -> NumberAccount:
    async with services.pool.reading() as db:
        row = existing(await store.find_account(db, book_id, attempt_id, provider))
        business_id = BusinessId(row["business_id"])
        sealed = row["settings_sealed"]
        return await unseal(services.vault, db, business_id, row["number_id"], sealed)


HOOK = RawRoute(
    method="POST",
    path=_PATH,
    handler=take,
    check=check,
    is_hook=True,
    body_bytes_max=telephones.BODY_BYTES_MAX,
)
"""The raw route of callbacks."""


def callback_url(
    settings: Settings, provider: str, book_id: BookId | UUID, attempt_id: UUID
) -> str | None:
    """The public address, which the signature covers; None where none can be reached."""
    if not settings.public_url.startswith("https://"):
        return None
    return f"{settings.public_url}/hooks/{provider}/{book_id}/{attempt_id}"
