"""Money that comes in by providers: the face of the room."""

from tillhouse.access.scopes import Scope
from tillhouse.http.route import Group
from tillhouse.payins.events import EVENTS
from tillhouse.payins.jobs import chores, kinds
from tillhouse.payins.proof import DISPUTE_SOURCE, PAYIN_SOURCE
from tillhouse.payins.routes import HOOKS, ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="payins",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/payment-providers",
            "Payment providers",
            "Providers that collect money for the business.",
            "payments",
        ),
        Group(
            "/v1/disputes",
            "Disputes",
            "Payments that payers' banks want back: chargebacks.",
            "payments",
        ),
    ),
    pages=lambda: HOOKS,
    scopes=(
        Scope("payment_providers:read", "Read payment providers", "Finance", "medium"),
        Scope(
            "payment_providers:write",
            "Connect payment providers",
            "Finance",
            "critical",
            grants=("payment_providers:read",),
            granters=("owner", "admin"),
            is_finance_write=True,
        ),
    ),
    events=EVENTS,
    kept_tables=(
        "disputes",
        "payins",
        "payment_providers",
        "sandbox_disputes",
        "sandbox_payments",
        "sandbox_payouts",
        "sandbox_refunds",
        "virtual_accounts",
    ),
    swept_tables={"provider_events": "old_provider_events"},
    chores=chores,
    jobs=kinds,
    sources=(PAYIN_SOURCE, DISPUTE_SOURCE),
)
