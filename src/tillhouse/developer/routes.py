"""The routes of the portal: /api/developer."""

from datetime import timedelta
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.scopes import CATALOGUE
from tillhouse.developer.actions import apps, events, keys
from tillhouse.developer.store.usage import list_usage
from tillhouse.developer.types import (
    App,
    AppFilter,
    AuditEvent,
    EventFilter,
    Key,
    KeyPatch,
    KeyWithSecret,
    NewApp,
    NewKey,
    ScopeShown,
    Secret,
    UsageFilter,
    UsageRecord,
)
from tillhouse.http.route import Portal, Reply, Route
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError


async def list_scopes(call: Call) -> Reply[list[ScopeShown]]:
    """List every scope that a key can have."""
    shown = [ScopeShown(s.name, s.label, s.group, s.risk, list(s.grants)) for s in CATALOGUE]
    return Reply("Scopes", shown)


async def list_apps(call: Call) -> Reply[list[App]]:
    """List developer apps."""
    return Reply("Apps", await apps.list_all(call))


async def create_app(call: Call, body: NewApp) -> Reply[App]:
    """Create a developer app."""
    return Reply("App created", await apps.create(call, body))


async def list_keys(call: Call, query: AppFilter) -> Reply[list[Key]]:
    """List API keys."""
    return Reply("API keys", await keys.list_all(call, query.developer_app_id))


async def create_key(call: Call, body: NewKey) -> Reply[KeyWithSecret]:
    """Create an API key; its secret is shown once."""
    key = await keys.create(call, body)
    message = "API key created: keep the secret, it is shown only now"
    return Reply(message, key, stored=keys.without_secret(key))


async def new_key_faults(call: Call, body: NewKey) -> list[FieldError]:
    """The faults of the key."""
    return await keys.new_faults(call, body)


async def show_key(call: Call, key_id: UUID) -> Reply[Key]:
    """Read one API key."""
    return Reply("API key", await keys.show(call, key_id))


async def change_key(call: Call, key_id: UUID, body: KeyPatch) -> Reply[Key]:
    """Update an API key."""
    return Reply("API key updated", await keys.change(call, key_id, body))


async def key_faults(call: Call, key_id: UUID, body: KeyPatch) -> list[FieldError]:
    """The faults of a change of a key."""
    return await keys.patch_faults(call, key_id, body)


async def delete_key(call: Call, key_id: UUID) -> Reply[Deleted]:
    """Delete an API key for good."""
    return Reply("API key deleted", await keys.delete(call, key_id))


async def rotate_key(call: Call, key_id: UUID) -> Reply[KeyWithSecret]:
    """Rotate an API key: a new secret, the old one ends at once."""
    key = await keys.rotate(call, key_id)
    message = "API key rotated: keep the new secret, the old one no longer works"
    return Reply(message, key, stored=keys.without_secret(key))


async def view_secret(call: Call, key_id: UUID) -> Reply[Secret]:
    """View the secret of an API key."""
    return Reply("API key secret", await keys.view_secret(call, key_id))


async def revoke_key(call: Call, key_id: UUID) -> Reply[Key]:
    """Revoke an API key at once."""
    return Reply("API key revoked", await keys.revoke(call, key_id))


async def list_events(call: Call, query: EventFilter) -> Reply[list[AuditEvent]]:
    """List audit events, the newest first."""
    found, page = await events.list_page(call, query)
    return Reply("Audit events", found, meta=page, extra={"success": True})


async def show_usage(call: Call, query: UsageFilter) -> Reply[list[UsageRecord]]:
    """Read usage per day, route and class of status."""
    await call.services.usage.flush()
    since = call.now.date() - timedelta(days=query.days - 1)
    books = call.user.books.all()
    return Reply("Usage", await list_usage(call.db, books, since, query.developer_app_id))


_KEYS = "/api/developer/api-keys"
_PORTAL = Portal()
_STEP_UP = Portal(step_up=True)

ROUTES = (
    Route("GET", "/api/developer/scopes", list_scopes, _PORTAL),
    Route("GET", "/api/developer/apps", list_apps, _PORTAL),
    Route("POST", "/api/developer/apps", create_app, _PORTAL, status=201, idempotent=True),
    Route("GET", _KEYS, list_keys, _PORTAL),
    Route("POST", _KEYS, create_key, _STEP_UP, status=201, idempotent=True, faults=new_key_faults),
    Route("GET", _KEYS + "/{key_id}", show_key, _PORTAL),
    Route("PATCH", _KEYS + "/{key_id}", change_key, _PORTAL, faults=key_faults),
    Route("DELETE", _KEYS + "/{key_id}", delete_key, _PORTAL),
    Route("POST", _KEYS + "/{key_id}/rotate", rotate_key, _STEP_UP, idempotent=True),
    Route("POST", _KEYS + "/{key_id}/view-secret", view_secret, _STEP_UP),
    Route("POST", _KEYS + "/{key_id}/revoke", revoke_key, _PORTAL, idempotent=True),
    Route("GET", "/api/developer/events", list_events, _PORTAL),
    Route("GET", "/api/developer/usage", show_usage, _PORTAL),
)
