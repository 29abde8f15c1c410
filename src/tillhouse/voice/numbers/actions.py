"""Voice numbers: list, show, add, change and remove."""

from uuid import UUID

import msgspec
from asyncpg import Record
from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, BusinessId, new_id
from tillhouse.kit.page import Deleted, Paged, PageOf
from tillhouse.kit.partial import facts_of, given, merged
from tillhouse.providers.telephony.provider import NumberAccount
from tillhouse.providers.telephony.targets import Targets
from tillhouse.stores.types import OpeningTime
from tillhouse.voice.numbers import rules, store
from tillhouse.voice.numbers.store import NUMBERS, StoredNumber
from tillhouse.voice.numbers.types import (
    CallingHours,
    NewVoiceNumber,
    VoiceCapabilities,
    VoiceNumber,
    VoiceNumberPatch,
)

_SETTINGS = "voice number settings"
# They are no facts as they come.
_APART = ("settings", "calling_hours")


async def list_page(call: Call, wanted: Paged) -> PageOf[VoiceNumber]:
    """One page of the numbers, the default one first."""
    found = await NUMBERS.page(call.db, call.book.id, wanted.pick())
    return PageOf([_shown(call, row) for row in found.rows], found.meta)


async def show(call: Call, voice_number_id: UUID) -> VoiceNumber:
    """One number."""
    return _shown(call, existing(await NUMBERS.show(call.db, call.book.id, voice_number_id)))


async def create(call: Call, new: NewVoiceNumber) -> VoiceNumber:
    """Add a number."""
    found = await _known(call, new)
    check(_new_faults(call, new, found))
    facts = facts_of(rules.NumberFacts, new, status="active", **_hours(new.calling_hours))
    key, phone = BookKey(call.book.id, new_id()), new.phone_number.e164(found["country"])
    if new.is_default:
        await store.update_no_default(call.db, call.book.id)
    await NUMBERS.insert(call.db, key, facts, call.now, phone, new.provider)
    if new.settings:
        await _keep_settings(call, key, new.settings)
    await _note(call, "created", key.id, phone)
    return await show(call, key.id)


async def new_faults(call: Call, new: NewVoiceNumber) -> list[FieldError]:
    """The faults of a new number."""
    return _new_faults(call, new, await _known(call, new))


def _new_faults(call: Call, new: NewVoiceNumber, found: Record) -> list[FieldError]:
    return rules.new_faults(new, call.book.environment, found["country"], _facts_known(call, found))


async def change(call: Call, voice_number_id: UUID, patch: VoiceNumberPatch) -> VoiceNumber:
    """Change the fields that the patch names."""
    old = existing(await NUMBERS.lock(call.db, call.book.id, voice_number_id))
    check(await patch_faults(call, voice_number_id, patch))
    facts = merged(facts_of(rules.NumberFacts, old), patch, _APART)
    if patch.calling_hours is not UNSET:
        facts = msgspec.structs.replace(facts, **_hours(patch.calling_hours))
    if facts.is_default and not old.is_default:
        await store.update_no_default(call.db, call.book.id)
    key = BookKey(call.book.id, voice_number_id)
    await NUMBERS.update(call.db, key, facts, call.now)
    # Calls may have waited for that.
    call.db.queues_jobs = True
    if patch.settings is not UNSET:
        await _keep_settings(call, key, patch.settings)
    await _note(call, "updated", voice_number_id, old.phone_number)
    return await show(call, voice_number_id)


async def patch_faults(
    call: Call, voice_number_id: UUID, patch: VoiceNumberPatch
) -> list[FieldError]:
    """The faults of a change, if there is such a number."""
    number = existing(await NUMBERS.show(call.db, call.book.id, voice_number_id))
    known = _facts_known(call, await _known(call, patch))
    return rules.patch_faults(patch, number.provider, known)


async def delete(call: Call, voice_number_id: UUID) -> Deleted:
    """Take a number out of use; calls that were made from it stay."""
    number = existing(await NUMBERS.lock(call.db, call.book.id, voice_number_id))
    if not await store.delete_number(call.db, BookKey(call.book.id, voice_number_id), call.now):
        raise rules.HasCalls
    await _note(call, "deleted", voice_number_id, number.phone_number)
    return Deleted(voice_number_id, iso(call.now))


async def unseal(
    vault: Vault, db: Db, business_id: BusinessId, number_id: UUID, sealed: bytes | None
) -> NumberAccount:
    """The settings of a number, if it has any."""
    if sealed is None:
        return NumberAccount()
    text = await vault.open(db, business_id, number_id, _SETTINGS, sealed)
    return NumberAccount(msgspec.json.decode(text, type=dict[str, str]))


async def _keep_settings(call: Call, key: BookKey, settings: dict[str, str]) -> None:
    text = msgspec.json.encode(settings).decode()
    vault = call.services.vault
    sealed = await vault.seal(call.db, call.business_id, key.id, _SETTINGS, text)
    await store.update_settings(call.db, key, sealed)


async def _known(call: Call, asked: NewVoiceNumber | VoiceNumberPatch) -> Record:
    named = (given(asked, name) for name in ("default_agent_id", "store_id"))
    ids = (None if one is UNSET else one for one in named)
    return await store.find_known(call.db, call.book.id, *ids)


def _facts_known(call: Call, found: Record) -> rules.Known:
    settings = call.services.settings
    return rules.Known(
        has_agent=found["has_agent"],
        has_store=found["has_store"],
        targets=Targets(settings.voice_allow_targets),
        has_media=settings.media_url is not None,
    )


def _hours(hours: CallingHours | None) -> dict[str, OpeningTime | None]:
    """The hours of calling as they are stored."""
    return {
        "calls_from": hours.from_ if hours else None,
        "calls_until": hours.until if hours else None,
    }


def _shown(call: Call, row: StoredNumber) -> VoiceNumber:
    begins, ends = row.calls_from, row.calls_until
    return facts_of(
        VoiceNumber,
        row,
        country=rules.country_of(row.phone_number),
        capabilities=VoiceCapabilities(),
        calling_hours=CallingHours(begins, ends) if begins and ends else None,
        environment=call.book.environment,
    )


async def _note(call: Call, verb: str, number_id: UUID, phone_number: str) -> None:
    what = (f"voice_number.{verb}", f"Voice number {phone_number}: {verb}")
    metadata = {"voiceNumberId": str(number_id), "environment": call.book.environment}
    await audit.note(call, what, metadata)
