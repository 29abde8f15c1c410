"""The database is the last judge: which refusal each constraint stands for.

A rule that two requests can break together is decided by a constraint, and the loser
must read the same sentence as if the rule had caught it.
"""

import asyncpg

from tillhouse.kit.errors import Conflict, Invalid, Problem, Refused

REFUSALS: dict[str, tuple[str, str]] = {
    "users_email_key": ("email", "is already registered; log in instead"),
    "businesses_currency_form": ("currency", "must be an ISO 4217 code, such as NGN"),
    "businesses_country_form": ("country", "must be an ISO 3166 code, such as NG"),
    "api_keys_have_a_scope": ("scopes", "needs at least one scope"),
    "academic_terms_in_order": ("ends_on", "must not be before starts_on"),
}

# Constraints that no field of the request is to blame for: a rule of the business says no.
STANDINGS: dict[str, str] = {
    "stock_levels_on_hand_bounds": (
        "The stock of a variant would be more than can be counted: check the quantity."
    ),
    "ledger_balances_not_below_zero": (
        "The customer has spent the credit that this would take back: record what they pay, or "
        "leave the amounts as they are."
    ),
}

# What is taken already: a field that is right by itself, and collides with what is there.
CONFLICTS: dict[str, str] = {
    "categories_name_key": "There is a category of this name already: choose another name.",
    "products_sku_key": "The sku is taken: each names one product or variant of this book.",
    "variants_sku_key": "The sku is taken: each names one product or variant of this book.",
    "stores_name_key": "There is a store of this name already: choose another name.",
    "dining_tables_label_key": "The store has a table of this label already: choose another.",
    "academic_terms_name_key": "There is a term of this name already: choose another name.",
    "tags_slug_key": "There is a tag of this name already: use it, or choose another name.",
    "customers_phone_key": "Another customer has this phone number already.",
    "customers_email_key": "Another customer has this e-mail address already.",
}

# What two random draws can break together: nobody's mistake, so the transaction runs again.
CHANCES = frozenset({"orders_short_code_key", "transactions_reference_key"})

# The SQLSTATE with which the function `rollback_unless` ends a statement.
_ROLLED_BACK = "TH001"


def is_chance(error: asyncpg.PostgresError) -> bool:
    """Whether another try would draw another lot."""
    return getattr(error, "constraint_name", None) in CHANCES


def is_rolled_back(error: asyncpg.PostgresError) -> bool:
    """Whether a statement undid itself, on its caller's own condition."""
    return getattr(error, "sqlstate", None) == _ROLLED_BACK


def refusal(error: asyncpg.PostgresError) -> Problem | None:
    """The problem that a violated constraint stands for, None when it is ours to mend."""
    name = getattr(error, "constraint_name", None)
    if name in REFUSALS:
        field, message = REFUSALS[name]
        return Invalid.field(field, message)
    if name in STANDINGS:
        return Refused(STANDINGS[name])
    if name in CONFLICTS:
        return Conflict(CONFLICTS[name])
    return None
