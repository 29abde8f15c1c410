"""API keys: make, show, change, rotate, view, revoke, delete."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
from asyncpg import Record
from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.rules import check_step_up
from tillhouse.access.store.businesses import lock_book, lock_role
from tillhouse.developer import rules
from tillhouse.developer.store import apps as app_store
from tillhouse.developer.store import keys as store
from tillhouse.developer.types import (
    Environment,
    Key,
    KeyPatch,
    KeyWithSecret,
    NewKey,
    Secret,
)
from tillhouse.http.wire import decode
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import AppId, BookKey, KeyId, new_id
from tillhouse.kit.page import Deleted
from tillhouse.kit.partial import InvalidField, facts_of, given
from tillhouse.kit.secrets import digest, new_api_key, new_secret, secret_prefix
from tillhouse.webhooks.types import AppFilter

SEAL_KIND = "api key secret"


async def create(call: Call, new: NewKey) -> KeyWithSecret:
    """Make a key; its secret is told here and never again unasked."""
    await _check_grantable(call, new.scopes)
    facts, app_id, faults = await _judged(call, new)
    check(faults)
    book_id = call.user.books.of(new.environment)
    assert app_id is not None, "the rules refuse a key without an app"  # noqa: S101
    await lock_book(call.db, book_id)
    rules.check_key_limit(await store.count_active_keys(call.db, book_id, call.now))
    key_id, text = new_id(), new_api_key(new.environment)
    await store.insert_key(
        call.db,
        facts_of(
            store.KeyRow,
            facts,
            book_id=book_id,
            id=key_id,
            developer_app_id=AppId(app_id),
            public_key=text.public,
            secret_prefix=secret_prefix(text.secret),
            secret_digest=digest(call.services.vault.pepper, text.secret),
            secret_sealed=await _seal(call, KeyId(key_id), text.secret),
            made_by=call.user.user_id,
            created_at=call.now,
        ),
    )
    more = {"scopes": facts.scopes, "developerAppId": str(app_id)}
    await _note(call, "created", KeyId(key_id), (new.name, new.environment), more)
    return _with_secret(await show(call, KeyId(key_id)), text.secret)


async def new_faults(call: Call, new: NewKey) -> list[FieldError]:
    """Everything that speaks against making the key."""
    return (await _judged(call, new))[2]


async def list_all(call: Call, wanted: AppFilter) -> list[Key]:
    """The keys of the business."""
    return await store.list_keys(call.db, call.user.books.all(), wanted.developer_app_id, call.now)


async def show(call: Call, key_id: KeyId) -> Key:
    """One key."""
    return existing(await store.show_key(call.db, call.user.books.all(), key_id, call.now))


async def change(call: Call, key_id: KeyId, patch: KeyPatch) -> Key:
    """Change the fields that the patch names; the result holds on the key's next request."""
    role = await _lock_role(call)
    row = await _lock_usable(call, key_id)
    business = await _business(call)
    old = _facts(row)
    facts = rules.changed_key(old, patch, business)
    known = call.services.declared.scopes
    if not rules.is_narrowing(old, facts, patch, known):
        rules.check_grantable(role, [*old.scopes, *facts.scopes], known)
    if patch.withdrawal_policy is not UNSET or rules.is_wider(old, facts, known):
        check_step_up(call.user, call.now)
    check(await _key_faults(call, patch, facts, business))
    if old.expires_at is not None and old.expires_at <= call.now:
        # An expired key that comes back counts again.
        await lock_book(call.db, row["book_id"])
        if facts.expires_at is None or facts.expires_at > call.now:
            active = await store.count_active_keys(call.db, row["book_id"], call.now)
            rules.check_key_limit(active)
    what = (facts.name, facts.scopes, facts.allowed_origins, facts.allowed_ip_ranges)
    row_key = BookKey(row["book_id"], row["id"])
    await store.update_key(
        call.db, row_key, what, facts.withdrawal_policy, facts.expires_at, call.now
    )
    changed = [n for n in msgspec.structs.asdict(facts) if getattr(facts, n) != getattr(old, n)]
    more = {"changed": changed, "scopes": facts.scopes}
    await _note(call, "updated", key_id, (facts.name, facts.environment), more)
    return await show(call, key_id)


async def patch_faults(call: Call, key_id: KeyId, patch: KeyPatch) -> list[FieldError]:
    """Everything that speaks against the change."""
    business = await _business(call)
    facts = rules.changed_key(_facts(await _lock(call, key_id)), patch, business)
    return await _key_faults(call, patch, facts, business)


async def rotate(call: Call, key_id: KeyId) -> KeyWithSecret:
    """Give the key a new secret; the old one ends with this transaction."""
    row = await _lock_within_right(call, key_id)
    secret = new_secret(row["environment"], row["public_key"])
    sealed = await _seal(call, key_id, secret)
    kept = (secret_prefix(secret), digest(call.services.vault.pepper, secret), sealed)
    row_key = BookKey(row["book_id"], key_id)
    await store.update_secret(call.db, row_key, kept, call.user.user_id, call.now)
    await _note(call, "rotated", key_id, (row["name"], row["environment"]), {})
    return _with_secret(await show(call, key_id), secret)


async def view_secret(call: Call, key_id: KeyId) -> Secret:
    """Tell the secret again, and note who asked."""
    row = await _lock_within_right(call, key_id)
    secret = await call.services.vault.open(
        call.db, call.business_id, key_id, SEAL_KIND, row["secret_sealed"]
    )
    await _note(call, "secret_viewed", key_id, (row["name"], row["environment"]), {})
    return Secret(key_id, secret)


async def revoke(call: Call, key_id: KeyId) -> Key:
    """End the key; ending it twice is ending it once."""
    row = await _lock(call, key_id)
    if row["revoked_at"] is None:
        await store.revoke_key(call.db, BookKey(row["book_id"], key_id), call.now)
        await _note(call, "revoked", key_id, (row["name"], row["environment"]), {})
    return await show(call, key_id)


async def delete(call: Call, key_id: KeyId) -> Deleted:
    """Remove the key for good; the audit log keeps that there was one."""
    row = await _lock(call, key_id)
    await store.delete_key(call.db, BookKey(row["book_id"], key_id))
    await _note(call, "deleted", key_id, (row["name"], row["environment"]), {})
    return Deleted(key_id, iso(call.now))


async def _lock(call: Call, key_id: KeyId) -> Record:
    return existing(await store.lock_key(call.db, call.user.books.all(), key_id))


async def _lock_usable(call: Call, key_id: KeyId) -> Record:
    row = await _lock(call, key_id)
    rules.check_not_revoked(row["revoked_at"])
    return row


async def _lock_role(call: Call) -> str | None:
    """The caller's role; a change of it meanwhile waits, or came before and counts."""
    return await lock_role(call.db, call.business_id, call.user.user_id)


async def _check_grantable(call: Call, names: Sequence[str]) -> None:
    role = await _lock_role(call)
    rules.check_grantable(role, names, call.services.declared.scopes)


async def _lock_within_right(call: Call, key_id: KeyId) -> Record:
    """A key that the caller could have made, locked; the role first, as in every change."""
    role = await _lock_role(call)
    row = await _lock_usable(call, key_id)
    rules.check_grantable(role, row["scopes"], call.services.declared.scopes)
    return row


async def _business(call: Call) -> rules.BusinessFacts:
    return rules.BusinessFacts(**await store.find_business(call.db, call.business_id))


async def _judged(call: Call, new: NewKey) -> tuple[rules.KeyFacts, UUID | None, list[FieldError]]:
    """The key as it would be, its app, and the faults."""
    business = await _business(call)
    facts = rules.new_key(new, business)
    found = await _key_faults(call, new, facts, business)
    app_id = None
    with suppress(InvalidField):
        app_id = await _app(call, new)
        if app_id is None:
            wrong = "is no app of this business and environment"
            found.append(FieldError("developer_app_id", wrong))
    return facts, app_id, found


async def _key_faults(
    call: Call, asked: NewKey | KeyPatch, facts: rules.KeyFacts, business: rules.BusinessFacts
) -> list[FieldError]:
    """Every reason against the key that would come of it."""
    found = rules.key_faults(asked, facts, business, call.services.declared.scopes, call.now)
    policy = given(asked, "withdrawal_policy")
    ids = given(policy, "allowed_payout_account_ids") if policy else None
    environment = given(facts, "environment")
    if not ids or environment is None:
        return found
    book_id = call.user.books.of(environment)
    known = await store.list_payout_accounts(call.db, book_id, ids)
    return [*found, *rules.account_errors(ids, known)]


async def _app(call: Call, new: NewKey) -> UUID | None:
    """The app that the key is to belong to, None if the book has no such app."""
    book_id = call.user.books.of(new.environment)
    if new.developer_app_id is None:
        return await app_store.find_default_app(call.db, book_id)
    found = await app_store.show_app(call.db, book_id, new.developer_app_id)
    return new.developer_app_id if found else None


async def _seal(call: Call, key_id: KeyId, secret: str) -> bytes:
    return await call.services.vault.seal(call.db, call.business_id, key_id, SEAL_KIND, secret)


async def _note(
    call: Call,
    verb: str,
    key_id: KeyId,
    what: tuple[str, Environment],
    more: dict[str, Any],
) -> None:
    name, environment = what
    title = f"API key {name}: {verb.replace('_', ' ')}"
    metadata = {"environment": environment, "name": name, **more}
    await audit.note(call, (f"api_key.{verb}", title), metadata, about_key=key_id)


def _facts(row: Record) -> rules.KeyFacts:
    policy = row["withdrawal_policy"]
    return rules.KeyFacts(
        name=row["name"],
        environment=row["environment"],
        scopes=row["scopes"],
        allowed_origins=row["allowed_origins"],
        allowed_ip_ranges=row["allowed_ip_ranges"],
        expires_at=row["expires_at"],
        withdrawal_policy=decode(policy.encode()) if policy else None,
    )


def _with_secret(key: Key, secret: str | None) -> KeyWithSecret:
    return KeyWithSecret(**msgspec.structs.asdict(key), secret=secret)


def without_secret(key: KeyWithSecret) -> KeyWithSecret:
    """The same, for those who may not be told: a replay."""
    return msgspec.structs.replace(key, secret=None)
