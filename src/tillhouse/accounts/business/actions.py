"""Show the business, and change it: the one place for people and for the command line."""

from datetime import datetime

import msgspec

from tillhouse.access import audit
from tillhouse.access.audit import Actor
from tillhouse.access.call import Call
from tillhouse.accounts.business import rules, store
from tillhouse.accounts.business.types import BusinessPatch, BusinessShown
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import check, existing
from tillhouse.kit.ids import BusinessId


async def show(call: Call) -> BusinessShown:
    """The business of the caller."""
    return existing(await store.find_business(call.db, call.business_id))


async def change(call: Call, patch: BusinessPatch) -> BusinessShown:
    """Change the business; what the patch doesn't name stays."""
    return existing(
        await change_business(call.db, call.business_id, patch, audit.actor(call), call.now)
    )


async def change_business(
    db: Db, business_id: BusinessId, patch: BusinessPatch, who: Actor, now: datetime
) -> BusinessShown | None:
    """Change a business, for people and for commands; None where there is none."""
    check(list(rules.patch_faults(patch)))
    old = await store.lock_business(db, business_id)
    if old is None:
        return None
    changed = rules.changes(old, patch)
    if "time_zone" in changed:
        rules.check_zone(is_booked=await store.is_booked_by_days(db, business_id))
    if not changed:
        return old
    new = msgspec.structs.replace(old, **changed, updated_at=iso(now))
    await store.update_business(db, new, now)
    what = ("business.changed", f"Changed the business: {', '.join(changed)}")
    await audit.append(db, business_id, who, what, {"fields": list(changed)}, now)
    return new
