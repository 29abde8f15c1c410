"""The evening: the day's money is looked at, an expense is recorded, and one taken back."""

from story.story import NOBODY, Story


def counted(s: Story) -> None:
    """The money of a day and of a week long ago, and each movement of it."""
    s.chapter("2026-01-31T18:10:00Z")
    s.sends("GET /v1/finance/summary", query={"date": "2024-05-03"})
    week = {"from": "2024-04-29", "to": "2024-05-05", "store_id": s.known["store_id"]}
    s.sends("GET /v1/finance/summary", query=week)
    s.sends("GET /v1/finance/summary", query={"to": "2026-01-30"}, status=422)
    s.sends("GET /v1/finance/summary", query={"from": "2020-01-01"}, status=422)
    found = s.sends("GET /v1/finance/transactions", query={"page": 1, "limit": 20})
    s.known["transaction_id"] = found[0]["id"]
    sales = {
        "type": "sale,debt_payment",
        "status": "successful",
        "method": "transfer",
        "from": "2024-05-01",
        "to": "2024-05-31",
        "store_id": s.known["store_id"],
    }
    s.sends("GET /v1/finance/transactions", query=sales)
    s.sends("GET /v1/finance/transactions", query={"search": "chi"})
    s.sends("GET /v1/finance/transactions", query={"order_id": s.known["order_id"]})
    s.sends("GET /v1/finance/transactions", query={"customer_id": s.known["customer_id"]})
    unknown = {"customer_email": "nobody@example.com", "customer_phone": "+2348000000000"}
    s.sends("GET /v1/finance/transactions", query=unknown)
    s.sends("GET /v1/finance/transactions", query={"type": "gift"}, status=422)
    s.sends("GET /v1/finance/transactions/{transaction_id}")
    s.sends("GET /v1/finance/transactions/{transaction_id}", transaction_id=NOBODY, status=404)
    s.sends("GET /v1/customers/{customer_id}/credit")
    s.sends("GET /v1/ledger/accounts", query={"date": "2026-01-31"})
    s.sends("PUT /v1/ledger/closing", {"closed_until": "2024-01-31"})
    s.sends("PUT /v1/ledger/closing", {"closed_until": "2100-01-31"}, status=422)
    s.sends("GET /v1/ledger/closing")
    entries = s.sends("GET /v1/ledger/entries", query={"limit": 3})
    lines = {"account": "cash", "from": "2026-01-01", "to": "2026-01-31"}
    s.sends("GET /v1/ledger/entries", query={**lines, "cursor": entries[-1]["id"]})
    moved = {"occurred_from": "2026-01-01", "occurred_to": "2026-01-31", "limit": 2}
    s.sends("GET /v1/ledger/entries", query=moved)
    source = {"source_id": entries[0]["source"]["id"]}
    s.sends("GET /v1/ledger/entries", query=source)
    own = {"account": "customer_credit", "customer_id": s.known["customer_id"]}
    s.sends("GET /v1/ledger/entries", query=own)
    wrong = {"customer_id": s.known["customer_id"]}
    s.sends("GET /v1/ledger/entries", query=wrong, status=422)
    s.sends("GET /v1/ledger/entries", query={"kind": "payment", "format": "csv", "limit": 2})
    s.sends("GET /v1/ledger/entries", query={"kind": "expense,reversal", "limit": 2})
    s.sends("GET /v1/ledger/entries", query={"kind": "refnd"}, status=422)
    s.sends("GET /v1/ledger/accounts", query={"date": "2026-01-31", "format": "csv"})
    s.sends("POST /v1/finance/transactions/{transaction_id}/requery")
    s.sends("POST /v1/finance/transactions/{transaction_id}/receipt")


def spent(s: Story) -> None:
    """Diesel was bought; it was written down twice."""
    s.chapter("2026-01-31T18:20:00Z")
    diesel = {
        "amount": 12500,
        "category": "Fuel",
        "description": "Diesel for the generator, two drums",
        "method": "cash",
        "store_id": s.known["store_id"],
        "occurred_at": "2026-01-31T08:15:00Z",
    }
    s.known["expense_id"] = s.sends("POST /v1/finance/expenses", diesel)["id"]
    again = s.sends("POST /v1/finance/expenses", {"amount": 12500, "category": "Fuel"})["id"]
    s.sends("POST /v1/finance/expenses", {"amount": 0, "method": "wallet"}, status=422)
    s.sends("DELETE /v1/finance/expenses/{expense_id}", expense_id=again)
    s.sends("DELETE /v1/finance/expenses/{expense_id}", expense_id=again, status=404)
    s.sends("GET /v1/finance/expenses/{expense_id}")
    listed = {
        "store_id": s.known["store_id"],
        "from": "2026-01-31",
        "to": "2026-01-31",
        "page": 1,
        "limit": 10,
    }
    s.sends("GET /v1/finance/expenses", query=listed)
    s.sends("GET /v1/finance/transactions", query={"type": "expense"})
