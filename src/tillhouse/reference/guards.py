"""The rights that an operation asks of its caller, in words and as OpenAPI has it."""

from tillhouse.http.route import Open, Portal, Route, Scope, Session

SECURITY = {
    "apiKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, `thsk_test_…` or `thsk_live_…`.",
    },
    "dashboard": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An access token from POST /api/auth/login.",
    },
}


def description(route: Route) -> str:
    """The rights that a caller needs, in a sentence."""
    match route.guard:
        case Open():
            return "Needs no credential."
        case Session(permission=None):
            return "Needs a login."
        case Session(permission=permission, step_up=True):
            return (
                f"Needs a login with {permission}, and the password verified within 15 minutes "
                "(POST /api/auth/verify-password)."
            )
        case Session(permission=permission):
            return f"Needs a login with {permission}."
        case Portal(step_up=True):
            return (
                "Needs a login with MANAGE_DEVELOPER_KEYS, API access, and the password verified "
                "within 15 minutes (POST /api/auth/verify-password)."
            )
        case Portal():
            return "Needs a login with MANAGE_DEVELOPER_KEYS and API access."
        case Scope(name=name, keys_only=True):
            return f"Needs an API key with the scope `{name}`."
        case Scope(name=name, roles=roles):
            people = "or a login whose role includes it" + "".join(
                f" or is `{role}`" for role in roles
            )
            return f"Needs an API key with the scope `{name}`, {people}."


def security(route: Route) -> list[dict[str, list[str]]]:
    """The credentials that fit, each by itself."""
    match route.guard:
        case Open():
            return []
        case Scope(keys_only=True):
            return [{"apiKey": []}]
        case Scope():
            return [{"apiKey": []}, {"dashboard": []}]
        case _:
            return [{"dashboard": []}]
