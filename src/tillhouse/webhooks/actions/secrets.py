"""Signing secrets: one per app and environment, replaced at once, told after a step-up."""

from datetime import datetime

from asyncpg import Record

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Invalid
from tillhouse.kit.ids import AppId, BookId, BookKey, BusinessId
from tillhouse.kit.secrets import Environment, new_webhook_secret
from tillhouse.webhooks.store import secrets as store
from tillhouse.webhooks.types import AppChoice, AppFilter, Settings, SigningSecret

SEAL_KIND = "webhook signing secret"
_PREFIX_LENGTH = 12
_BATCH = 100


async def open_secret(
    services: Services, db: Db, business_id: BusinessId, key: BookKey, now: datetime
) -> None:
    """Give an app (book, app) its signing secret; one that it has stays."""
    secret = new_webhook_secret()
    sealed = await services.vault.seal(db, BusinessId(business_id), key[1], SEAL_KIND, secret)
    await store.insert_secret(db, key, secret[:_PREFIX_LENGTH], sealed, now)


async def open_missing_secrets(services: Services, now: datetime) -> None:
    """Give a secret to every app that was made before there were webhooks."""
    while True:
        async with services.pool.transaction() as db:
            rows = await store.list_apps_without_secret(db, _BATCH)
            for row in rows:
                key = BookKey(row["book_id"], row["id"])
                await open_secret(services, db, row["business_id"], key, now)
        if len(rows) < _BATCH:
            return


async def list_all(call: Call, wanted: AppFilter) -> list[Settings]:
    """How the apps of the business sign."""
    return await store.list_settings(call.db, call.user.books.all(), wanted.developer_app_id)


async def rotate(call: Call, environment: Environment, choice: AppChoice) -> SigningSecret:
    """Replace the secret at once; the next attempt of every delivery is signed with the new one."""
    book_id = call.user.books.of(environment)
    row = await _lock(call, book_id, choice.developer_app_id)
    app_id = AppId(row["developer_app_id"])
    key = BookKey(book_id, app_id)
    secret = new_webhook_secret()
    sealed = await call.services.vault.seal(call.db, call.business_id, app_id, SEAL_KIND, secret)
    await store.update_secret(call.db, key, secret[:_PREFIX_LENGTH], sealed, call.now)
    await _note(call, "rotated", environment, app_id)
    return SigningSecret(
        developer_app_id=app_id,
        environment=environment,
        secret=secret,
        rotated_at=iso(call.now),
    )


async def view(call: Call, environment: Environment, choice: AppChoice) -> SigningSecret:
    """Tell the secret, and note who asked."""
    row = await _lock(call, call.user.books.of(environment), choice.developer_app_id)
    app = row["developer_app_id"]
    secret = await call.services.vault.open(
        call.db, call.business_id, app, SEAL_KIND, row["secret_sealed"]
    )
    await _note(call, "viewed", environment, app)
    return SigningSecret(
        developer_app_id=app,
        environment=environment,
        secret=secret,
        rotated_at=row["rotated_at"],
    )


async def _lock(call: Call, book_id: BookId, app_id: AppId | None) -> Record:
    row = await store.lock_secret(call.db, book_id, app_id)
    if row is None:
        raise Invalid.field("developer_app_id", "is no app of this business and environment")
    return row


async def _note(call: Call, verb: str, environment: Environment, app_id: AppId) -> None:
    what = (f"webhook_secret.{verb}", f"Webhook signing secret ({environment}): {verb}")
    await audit.note(call, what, {"environment": environment, "developerAppId": str(app_id)})
