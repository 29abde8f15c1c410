"""The names of operations in generated clients: the thing, then the verb."""

import re

from tillhouse.http.route import Route

# The verbs of each method: for one thing, and for all of them.
_ONE = {"GET": "get", "PATCH": "update", "DELETE": "delete", "PUT": "set"}
_ALL = {"GET": "list", "POST": "create", "PUT": "set"}
# Where path and method say too little, or something else.
_OTHER = {
    "GET /api/auth/me": "auth_me",
    "GET /api/auth/second-factor": "auth_second_factor_get",
    "POST /api/auth/second-factor": "auth_second_factor_begin",
    "DELETE /api/auth/second-factor": "auth_second_factor_turn_off",
    "POST /api/auth/second-factor/recovery-codes": "auth_second_factor_make_recovery_codes",
    "GET /v1/business": "business_get",
    "GET /v1/business/second-factor": "business_second_factor_get",
    "PATCH /v1/business": "business_update",
    "GET /v1/counts": "counts_get",
    "GET /v1/search": "search_find",
    "GET /v1/events/stream": "events_stream",
    "GET /v1/voice/health": "voice_health",
    "GET /v1/voice/settings": "voice_settings_get",
    "PATCH /v1/voice/settings": "voice_settings_update",
    "GET /api/developer/events": "audit_events_list",
    "GET /api/developer/usage": "usage_get",
    "GET /v1/messaging/inbox": "messaging_inbox_get",
    "PATCH /v1/messaging/inbox": "messaging_inbox_update",
    "POST /v1/messaging/sandbox/inbound": "messaging_sandbox_receive",
    "POST /v1/conversations/{conversation_id}/messages": "messages_send",
    "GET /v1/conversations/{conversation_id}/messages": "messages_list",
    "GET /v1/messages": "messages_search",
    "POST /v1/orders/{order_id}/kitchen-status": "orders_set_kitchen_status",
    "POST /v1/orders/{order_id}/receipt": "orders_create_receipt",
    "POST /v1/products/{product_id}/variants": "variants_create",
    "GET /v1/hotel/reservations/{reservation_id}/folio": "hotel_reservations_folio_get",
    "POST /v1/hotel/reservations/{reservation_id}/bill": "hotel_reservations_create_bill",
    "POST /v1/hotel/rooms/{room_id}/status": "hotel_rooms_set_status",
    "POST /v1/hotel/audits": "hotel_audits_run",
    "GET /v1/hotel/settings": "hotel_settings_get",
    "PATCH /v1/hotel/settings": "hotel_settings_update",
}


def operation_id(route: Route) -> str:
    """The name of an operation, such as `orders_list` or `orders_confirm`."""
    known = _OTHER.get(f"{route.method} {route.path}")
    if known is not None:
        return known
    path = re.sub(r"^/(v1|api/developer|api)/", "", route.path)
    words = [part.replace("-", "_") for part in path.split("/")]
    names = [word for word in words if not word.startswith("{")]
    if words[-1].startswith("{"):
        return "_".join([*names, _ONE[route.method]])
    # A verb below one thing, such as /orders/{order_id}/confirm, or among those of an account.
    is_verb = route.method == "POST" and ("{" in path or names[0] == "auth")
    return "_".join(names if is_verb else [*names, _ALL[route.method]])
