"""The roles of a business that need a second factor: read, and set by an owner."""

from typing import get_args

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.scopes import Role
from tillhouse.accounts.second_factor import rules, store
from tillhouse.accounts.second_factor.types import FactorRequirement, FactorRoles, RoleFactor

ROLES: tuple[Role, ...] = get_args(Role)


async def show(call: Call) -> FactorRequirement:
    """Each role, whether it needs a second factor, and how many of its members have none."""
    rows = await store.list_roles(call.db, call.business_id, ROLES)
    return FactorRequirement(roles=[RoleFactor(**row) for row in rows])


async def change(call: Call, given: FactorRoles) -> FactorRequirement:
    """Say which roles need one; it holds on the next request of each of their sessions."""
    found = await store.lock_roles(call.db, call.business_id, call.user.user_id)
    rules.check_owner(found["callers_role"])
    before = [role for role in ROLES if role in found["second_factor_roles"]]
    wanted = [role for role in ROLES if role in given.roles]
    if wanted != before:
        await store.update_roles(call.db, call.business_id, wanted)
        title = f"Second factor needed by: {', '.join(wanted) or 'no role'}"
        what = ("business.second_factor_required", title)
        await audit.note(call, what, {"roles": wanted, "before": before})
    return await show(call)
