"""Money that comes in by providers: what this room brings along."""

from tillhouse.payins.hook_routes import HOOKS
from tillhouse.payins.jobs import chores, kinds
from tillhouse.payins.proof import PAYIN_SOURCE
from tillhouse.room import Room

ROOM = Room(
    name="payins",
    pages=lambda: HOOKS,
    kept_tables=(
        "payins",
        "payment_providers",
        "sandbox_payments",
        "sandbox_payouts",
        "sandbox_refunds",
        "virtual_accounts",
    ),
    swept_tables={"provider_events": "old_provider_events"},
    chores=chores,
    jobs=kinds,
    sources=(PAYIN_SOURCE,),
)
