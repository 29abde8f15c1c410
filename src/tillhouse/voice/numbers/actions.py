"""Voice numbers: list, show, add, change and remove."""

from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from asyncpg import Record
from msgspec import UNSET, UnsetType

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, BusinessId, new_id
from tillhouse.kit.page import Deleted, Paged, PageOf, meta
from tillhouse.kit.partial import InvalidField, facts_of
from tillhouse.providers.telephony.provider import NumberAccount
from tillhouse.providers.telephony.targets import Targets
from tillhouse.voice.numbers import rules, store
from tillhouse.voice.numbers.types import (
    CallingHours,
    NewVoiceNumber,
    VoiceCapabilities,
    VoiceNumber,
    VoiceNumberPatch,
)

_SETTINGS = "voice number settings"
T = TypeVar("T")


async def list_page(call: Call, wanted: Paged) -> PageOf[VoiceNumber]:
    """One page of the numbers, the default one first."""
    page = wanted.pick()
    total = await store.count_numbers(call.db, call.book.id)
    rows = await store.list_numbers(call.db, call.book.id, page)
    return PageOf([_shown(call, row) for row in rows], meta(page, total))


async def show(call: Call, voice_number_id: UUID) -> VoiceNumber:
    """One number."""
    return _shown(call, existing(await store.show_number(call.db, call.book.id, voice_number_id)))


async def create(call: Call, new: NewVoiceNumber) -> VoiceNumber:
    """Add a number."""
    found = await _known(call, new)
    check(_new_faults(call, new, found))
    hours = new.calling_hours
    facts = facts_of(
        rules.NumberFacts,
        new,
        status="active",
        calls_from=hours.from_ if hours else None,
        calls_until=hours.until if hours else None,
    )
    key = BookKey(call.book.id, new_id())
    row = store.NumberRow(
        phone_number=new.phone_number.e164(found["country"]), provider=new.provider
    )
    if new.is_default:
        await store.update_no_default(call.db, call.book.id)
    await store.insert_number(call.db, key, row, facts, call.now)
    if new.settings:
        await _keep_settings(call, key, new.settings)
    await _note(call, "created", key.id, row.phone_number)
    return await show(call, key.id)


async def new_faults(call: Call, new: NewVoiceNumber) -> list[FieldError]:
    """The faults of a new number."""
    return _new_faults(call, new, await _known(call, new))


def _new_faults(call: Call, new: NewVoiceNumber, found: Record) -> list[FieldError]:
    return rules.new_faults(new, call.book.environment, found["country"], _facts_known(call, found))


async def change(call: Call, voice_number_id: UUID, patch: VoiceNumberPatch) -> VoiceNumber:
    """Change the fields that the patch names."""
    row = existing(await store.lock_number(call.db, call.book.id, voice_number_id))
    check(await patch_faults(call, voice_number_id, patch))
    hours = patch.calling_hours
    old_hours = CallingHours(row["calls_from"], row["calls_until"]) if row["calls_from"] else None
    new_hours = _picked(hours, old_hours)
    facts = rules.NumberFacts(
        label=_picked(patch.label, row["label"]),
        status=_picked(patch.status, row["status"]),
        is_default=_picked(patch.is_default, row["is_default"]),
        default_agent_id=_picked(patch.default_agent_id, row["default_agent_id"]),
        store_id=_picked(patch.store_id, row["store_id"]),
        max_concurrent_calls=_picked(patch.max_concurrent_calls, row["max_concurrent_calls"]),
        calls_per_second=_picked(patch.calls_per_second, row["calls_per_second"]),
        calls_from=new_hours.from_ if new_hours else None,
        calls_until=new_hours.until if new_hours else None,
        allowed_prefixes=_picked(patch.allowed_prefixes, row["allowed_prefixes"]),
    )
    if facts.is_default and not row["is_default"]:
        await store.update_no_default(call.db, call.book.id)
    key = BookKey(call.book.id, voice_number_id)
    await store.update_number(call.db, key, facts, call.now)
    if patch.settings is not UNSET:
        await _keep_settings(call, key, patch.settings)
    await _note(call, "updated", voice_number_id, row["phone_number"])
    return await show(call, voice_number_id)


async def patch_faults(
    call: Call, voice_number_id: UUID, patch: VoiceNumberPatch
) -> list[FieldError]:
    """The faults of a change, if there is such a number."""
    row = existing(await store.show_number(call.db, call.book.id, voice_number_id))
    known = _facts_known(call, await _known(call, patch))
    return rules.patch_faults(patch, row["provider"], known)


async def delete(call: Call, voice_number_id: UUID) -> Deleted:
    """Take a number out of use; calls that were made from it stay."""
    row = existing(await store.lock_number(call.db, call.book.id, voice_number_id))
    if not await store.delete_number(call.db, BookKey(call.book.id, voice_number_id), call.now):
        raise rules.HasCalls
    await _note(call, "deleted", voice_number_id, row["phone_number"])
    return Deleted(voice_number_id, iso(call.now))


async def unseal(
    vault: Vault, db: Db, business_id: BusinessId, number_id: UUID, sealed: bytes
) -> NumberAccount:
    """The settings of a number."""
    text = await vault.open(db, business_id, number_id, _SETTINGS, sealed)
    return NumberAccount(msgspec.json.decode(text, type=dict[str, str]))


async def _keep_settings(call: Call, key: BookKey, settings: dict[str, str]) -> None:
    text = msgspec.json.encode(settings).decode()
    vault = call.services.vault
    sealed = await vault.seal(call.db, call.business_id, key.id, _SETTINGS, text)
    await store.update_settings(call.db, key, sealed)


async def _known(call: Call, asked: NewVoiceNumber | VoiceNumberPatch) -> Record:
    agent_id, store_id = _named(asked, "default_agent_id"), _named(asked, "store_id")
    return await store.find_known(call.db, call.book.id, agent_id, store_id)


def _facts_known(call: Call, found: Record) -> rules.Known:
    settings = call.services.settings
    return rules.Known(
        has_agent=found["has_agent"],
        has_store=found["has_store"],
        targets=Targets(settings.voice_allow_targets),
        has_media=settings.media_url is not None,
    )


def _named(asked: msgspec.Struct, name: str) -> Any:
    with suppress(InvalidField):
        value = getattr(asked, name)
        return None if value is UNSET else value
    return None


def _picked(given: T | UnsetType, before: T) -> T:
    return before if given is UNSET else given


def _shown(call: Call, row: Record) -> VoiceNumber:
    hours = CallingHours(row["calls_from"], row["calls_until"]) if row["calls_from"] else None
    fields = {name: row[name] for name in VoiceNumber.__struct_fields__ if name in row.keys()}  # noqa: SIM118
    return VoiceNumber(
        **fields,
        country=rules.country_of(row["phone_number"]),
        capabilities=VoiceCapabilities(),
        calling_hours=hours,
        environment=call.book.environment,
    )


async def _note(call: Call, verb: str, number_id: UUID, phone_number: str) -> None:
    what = (f"voice_number.{verb}", f"Voice number {phone_number}: {verb}")
    metadata = {"voiceNumberId": str(number_id), "environment": call.book.environment}
    await audit.note(call, what, metadata)
