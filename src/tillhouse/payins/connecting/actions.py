"""Payment providers of a book: listed, connected, checked, selected, disconnected."""

import asyncio
from collections.abc import Mapping

from asyncpg import Record
from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.access.rules import check_step_up
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.partial import faults
from tillhouse.payins import connections
from tillhouse.payins.connecting import naming, noticing, rules
from tillhouse.payins.connecting.types import ProviderAbilities, ProviderChange, ProviderShown
from tillhouse.payins.connections import SANDBOX, provider_of
from tillhouse.payins.store import connections as store
from tillhouse.providers.payments.provider import (
    NotReached,
    PaymentProvider,
    ProviderRefused,
    ProviderSecrets,
    Unclear,
)
from tillhouse.providers.payments.providers import SHORTEST_SECRETS, VENDORS

_CHECK_S = 15.0


async def list_all(call: Call) -> list[ProviderShown]:
    """Every provider that the book can have, connected or not."""
    rows = {row["provider"]: row for row in await store.list_connections(call.db, call.book.id)}
    names = (SANDBOX,) if call.book.environment == "test" else VENDORS
    known = [provider_of(call.services, name) for name in names]
    return [_shown(call, one, rows.get(one.name)) for one in known if one is not None]


async def change(call: Call, wanted: ProviderChange) -> ProviderShown:
    """Change how a provider is connected."""
    _check_caller(call)
    check(_faults(call, wanted))
    provider = provider_of(call.services, wanted.provider)
    assert provider is not None, "the rules have seen to it"  # noqa: S101
    if wanted.check:
        await _check(call, wanted, provider)
    if wanted.provider == SANDBOX:
        return _shown(call, provider, None)
    row = await store.lock_connection(call.db, call.book.id, wanted.provider)
    if wanted.secrets is None:
        await _disconnect(call, wanted)
    else:
        await _connect(call, wanted, provider, row)
    found = await store.find_connection(call.db, call.book.id, wanted.provider)
    return _shown(call, provider, found)


def _check_caller(call: Call) -> None:
    """Where real money is collected is for people, who gave the password again."""
    if call.book.environment == "test":
        return
    if isinstance(call.caller, KeyCaller):
        raise rules.PeopleOnly
    if isinstance(call.caller, UserCaller):
        check_step_up(call.caller, call.now)


async def change_faults(call: Call, wanted: ProviderChange) -> list[FieldError]:
    """The faults of a change."""
    return _faults(call, wanted)


def _faults(call: Call, wanted: ProviderChange) -> list[FieldError]:
    def wrong_secrets() -> list[FieldError]:
        provider = provider_of(call.services, wanted.provider)
        if provider is None:
            return []
        names, prefixes = provider.secret_names, provider.test_prefixes
        shortest = SHORTEST_SECRETS.get(wanted.provider, {})
        return list(rules.secrets_errors(wanted, names, prefixes, shortest))

    return faults(
        lambda: rules.provider_errors(wanted, call.book.environment, VENDORS), wrong_secrets
    )


async def _check(call: Call, wanted: ProviderChange, provider: PaymentProvider) -> None:
    """Ask the provider, before this request's transaction begins."""
    if wanted.provider == SANDBOX:
        return
    if isinstance(wanted.secrets, dict):
        credentials = ProviderSecrets(_texts(wanted.secrets), is_live=True)
    else:
        async with call.services.pool.reading() as db:
            row = await store.find_connection(db, call.book.id, wanted.provider)
            if row is None or row["credentials_sealed"] is None:
                raise rules.ProviderNotConnected
            credentials = await connections.opened(call.services, db, row)
    try:
        async with asyncio.timeout(_CHECK_S):
            await provider.check(credentials)
    except ProviderRefused as error:
        raise rules.NotAccepted(f"{provider.name} refuses these secrets: {error}") from error
    except (NotReached, Unclear, TimeoutError) as error:
        raise rules.NotChecked from error


async def _connect(
    call: Call, wanted: ProviderChange, provider: PaymentProvider, row: Record | None
) -> None:
    is_there = row is not None and row["credentials_sealed"] is not None
    record_id = row["id"] if row else new_id()
    sealed = hint = None
    if isinstance(wanted.secrets, dict):
        texts = _texts(wanted.secrets)
        vault = call.services.vault
        sealed = await connections.seal(vault, call.db, call.business_id, record_id, texts)
        hint = rules.hint(texts, provider.secret_names)
    elif not is_there:
        raise rules.ProviderNotConnected
    was_selected = row["is_selected"] if row is not None and is_there else True
    new = store.ConnectionRow(
        provider=wanted.provider,
        is_selected=wanted.selected if isinstance(wanted.selected, bool) else was_selected,
        credentials_sealed=sealed,
        hint=hint,
    )
    key = BookKey(call.book.id, record_id)
    await store.upsert_connection(call.db, key, new, call.now)
    if sealed is not None:
        await naming.queue(call.db, key, call.now)
    await _note(call, wanted, "connected" if sealed else "changed", is_selected=new.is_selected)


async def _disconnect(call: Call, wanted: ProviderChange) -> None:
    if await store.end_connection(call.db, call.book.id, wanted.provider, call.now):
        await _note(call, wanted, "disconnected", is_selected=False)


async def _note(call: Call, wanted: ProviderChange, verb: str, *, is_selected: bool) -> None:
    what = (f"payment_provider.{verb}", f"Payment provider {wanted.provider}: {verb}")
    metadata = {
        "provider": wanted.provider,
        "selected": is_selected,
        "environment": call.book.environment,
    }
    await audit.note(call, what, metadata)
    if wanted.secrets is not UNSET or wanted.selected is not UNSET:
        await noticing.queue(call, wanted.provider, verb, is_selected=is_selected)


def _texts(secrets: Mapping[str, str]) -> dict[str, str]:
    return {name: str(value) for name, value in secrets.items()}


def _shown(call: Call, provider: PaymentProvider, row: Record | None) -> ProviderShown:
    is_sandbox = provider.name == SANDBOX
    is_connected = is_sandbox or (row is not None and row["credentials_sealed"] is not None)
    able = provider.capabilities
    down_until = row["down_until"] if row is not None else None
    url = f"{call.services.settings.public_url}/hooks/{provider.name}/{call.book.id}"
    return ProviderShown(
        provider=provider.name,
        status="connected" if is_connected else "disconnected",
        selected=is_sandbox or (row is not None and row["is_selected"]),
        hint=row["hint"] if row is not None else None,
        hook_url=url,
        secret_names=list(provider.secret_names),
        capabilities=ProviderAbilities(
            opens=able.opens,
            takes_exact_only=able.takes_exact_only,
            refunds=able.has_refunds,
            payouts=able.has_payouts,
            name_enquiry=able.has_name_enquiry,
            currencies=sorted(able.currencies) if able.currencies is not None else None,
        ),
        down_until=iso(down_until) if down_until and down_until > call.now else None,
        last_error=row["last_error"] if row is not None else None,
    )
