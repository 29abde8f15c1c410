"""The database is the last judge: which refusal each constraint stands for.

A rule that two requests can break together is decided by a constraint, and the loser
must read the same sentence as if the rule had caught it.
"""

import asyncpg

from tillhouse.kit.errors import Invalid, Problem

REFUSALS: dict[str, tuple[str, str]] = {
    "users_email_key": ("email", "is already registered; log in instead"),
    "businesses_currency_form": ("currency", "must be an ISO 4217 code, such as NGN"),
    "businesses_country_form": ("country", "must be an ISO 3166 code, such as NG"),
    "api_keys_have_a_scope": ("scopes", "needs at least one scope"),
}


def refusal(error: asyncpg.PostgresError) -> Problem | None:
    """The problem that a violated constraint stands for, None when it is ours to mend."""
    name = getattr(error, "constraint_name", None)
    if name in REFUSALS:
        field, message = REFUSALS[name]
        return Invalid.field(field, message)
    return None
