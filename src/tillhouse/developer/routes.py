"""The routes of the portal: /api/developer."""

from tillhouse.access.call import Call
from tillhouse.developer.actions import apps, keys, logs
from tillhouse.developer.types import (
    AuditEvent,
    EventFilter,
    KeyWithSecret,
    NewKey,
    ScopeShown,
    Succeeded,
    UsageFilter,
    UsageRecord,
    WithStorage,
)
from tillhouse.http.route import Portal, Reply, Route
from tillhouse.kit.ids import KeyId


async def list_scopes(call: Call) -> list[ScopeShown]:
    """Every scope that a key can have."""
    scopes = call.services.declared.scopes
    return [ScopeShown(s.name, s.label, s.group, s.risk, list(s.grants)) for s in scopes]


async def create_key(call: Call, body: NewKey) -> Reply[KeyWithSecret]:
    """Make a key; the answer kept for a replay lacks the secret."""
    key = await keys.create(call, body)
    return Reply(key, stored=keys.without_secret(key))


async def rotate_key(call: Call, key_id: KeyId) -> Reply[KeyWithSecret]:
    """Give a key a new secret; the answer kept for a replay lacks it."""
    key = await keys.rotate(call, key_id)
    return Reply(key, stored=keys.without_secret(key))


async def list_events(call: Call, query: EventFilter) -> Reply[list[AuditEvent]]:
    """One page of the audit log, with the `success` that the contract names."""
    page = await logs.list_page(call, query)
    return Reply(page.rows, page.meta, extra={"success": True})


async def show_usage(call: Call, query: UsageFilter) -> Reply[list[UsageRecord]]:
    """The usage of the API, and the storage beside it."""
    records = await logs.show_usage(call, query)
    return Reply(records, extra={"storage": await logs.list_storage(call)})


_KEYS = "/api/developer/api-keys"
_PORTAL = Portal()
_STEP_UP = Portal(step_up=True)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/developer/scopes", list_scopes, _PORTAL,
          "List every scope that a key can have", "Scopes"),
    Route("GET", "/api/developer/apps", apps.list_all, _PORTAL,
          "List developer apps", "Apps"),
    Route("POST", "/api/developer/apps", apps.create, _PORTAL,
          "Create a developer app", "App created",
          status=201, idempotent=True),
    Route("GET", _KEYS, keys.list_all, _PORTAL, "List API keys", "API keys"),
    Route("POST", _KEYS, create_key, _STEP_UP,
          "Create an API key; its secret is shown once",
          "API key created: keep the secret, it is shown only now",
          status=201, idempotent=True, faults=keys.new_faults),
    Route("GET", _KEYS + "/{key_id}", keys.show, _PORTAL,
          "Read one API key", "API key"),
    Route("PATCH", _KEYS + "/{key_id}", keys.change, _PORTAL,
          "Update an API key", "API key updated",
          faults=keys.patch_faults),
    Route("DELETE", _KEYS + "/{key_id}", keys.delete, _PORTAL,
          "Delete an API key for good", "API key deleted"),
    Route("POST", _KEYS + "/{key_id}/rotate", rotate_key, _STEP_UP,
          "Rotate an API key: a new secret, the old one ends at once",
          "API key rotated: keep the new secret, the old one no longer works",
          idempotent=True),
    Route("POST", _KEYS + "/{key_id}/view-secret", keys.view_secret, _STEP_UP,
          "View the secret of an API key", "API key secret"),
    Route("POST", _KEYS + "/{key_id}/revoke", keys.revoke, _PORTAL,
          "Revoke an API key at once", "API key revoked",
          idempotent=True),
    Route("GET", "/api/developer/events", list_events, _PORTAL,
          "List audit events, the newest first", "Audit events",
          extra=Succeeded),
    Route("GET", "/api/developer/usage", show_usage, _PORTAL,
          "Read usage per day, route and class of status, and what is stored", "Usage",
          extra=WithStorage),
)  # fmt: skip
