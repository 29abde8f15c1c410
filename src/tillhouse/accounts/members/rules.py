"""Rules of members and invitations: pure decisions."""

from collections.abc import Mapping
from datetime import timedelta

from tillhouse.access.attempt_rules import Budget
from tillhouse.access.scopes import PERMISSIONS, Role, Scopes
from tillhouse.kit.errors import Conflict, Forbidden, LimitReached, Refused

INVITATION_LASTS = timedelta(days=7)
INVITATIONS_MAX = 100
# In any 24 hours a cell lets through its burst, and as many as are refilled: no more than 100 mails
# of one business, however often invitations are taken back and made anew.
MAILS_A_DAY = Budget(burst=50, every=timedelta(days=1) / 50)
TOO_MANY_MAILS = (
    "The business has mailed as many invitations as it may within a day: wait half an hour for "
    "each further one."
)


class LastOwner(Conflict, message="A business needs an owner: make another member an owner first."):
    """The last owner neither leaves nor takes another role."""


class InvitationOver(
    Refused,
    message="This invitation is over or was used: ask the business for another one.",
):
    """The invitation of a token is over, was used or taken back, or never was."""


class AlreadyMember(Conflict, message="This person belongs to the business already."):
    """The person who is invited is a member already."""


def check_right(caller: str | None, *roles: str) -> None:
    """Owners make and alter owners; an admin does so with everybody else."""
    if caller not in ("owner", "admin"):
        raise Forbidden("Members are for the owners and admins of the business.")
    if caller != "owner" and "owner" in roles:
        raise Forbidden("Only an owner makes, alters or removes an owner.")


def check_owner_stays(before: str, after: str | None, owners: int) -> None:
    """The last owner stays one."""
    if is_last_owner_lost(before, after, owners):
        raise LastOwner


def is_last_owner_lost(before: str, after: str | None, owners: int) -> bool:
    """Whether a business would be without an owner."""
    return before == "owner" and after != "owner" and owners <= 1


def check_invitation_limit(count: int) -> None:
    """A business has no more invitations that wait for an answer than the limit."""
    if count >= INVITATIONS_MAX:
        raise LimitReached(
            f"{INVITATIONS_MAX} invitations stand, which is the limit: take one back, or wait "
            "until one is taken or over."
        )


def is_lowered(
    before: Role, after: Role, roles: Mapping[str, frozenset[str]], scopes: Scopes
) -> bool:
    """Whether another role lacks something that the role before had, or could grant."""
    names = [scope.name for scope in scopes]
    return not (
        PERMISSIONS[before] <= PERMISSIONS[after]
        and roles[before] <= roles[after]
        and set(scopes.beyond(after, names)) <= set(scopes.beyond(before, names))
    )
