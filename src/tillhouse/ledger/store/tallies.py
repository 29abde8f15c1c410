"""The tallies of transactions, and of accounts."""

from tillhouse.db.folding import Folding, Tally, same

TRANSACTION_TALLIES = Folding(
    "transaction_tally_changes",
    Tally(
        "transaction_tallies",
        key="transaction_tallies_kind_key",
        kinds=(("day", "d.day"), *same(("type", "status", "method", "store_id"))),
        sums=("transactions", "amount"),
        also=", LATERAL (VALUES (g.day), (NULL)) AS d (day)",
    ),
)

ACCOUNT_TALLIES = Folding(
    "ledger_tally_changes",
    Tally(
        "ledger_tallies",
        key="ledger_tallies_kind_key",
        kinds=(
            *same(("account_kind", "is_cost")),
            ("period", "p.period"),
            ("began_at", "date_bin(p.width, g.quarter_at, '2001-01-01Z')"),
            ("store_id", "g.store_id"),
        ),
        sums=("amount",),
        also=""", (VALUES ('quarter', interval '15 minutes'), ('hour', interval '1 hour'))
            AS p (period, width)""",
    ),
)
