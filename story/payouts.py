"""The wallet: what came in by a provider, and what is paid out of it."""

from story.story import Story

_LIVE = {"service-environment": "live"}
_TEST = {"service-environment": "test"}

_DEPOSIT = """
    WITH book AS (
        SELECT k.id FROM books k JOIN businesses b ON b.id = k.business_id
        WHERE b.name = 'Ada''s Kitchen' AND k.environment = 'test'
    ), accounts AS (
        INSERT INTO ledger_accounts (book_id, kind, currency, created_at)
        SELECT book.id, kind, 'NGN', now()
        FROM book, unnest(ARRAY['provider_clearing', 'wallet']) kind
        ON CONFLICT DO NOTHING
    ), transfer AS (
        INSERT INTO ledger_transfers (book_id, id, debit_kind, credit_kind, amount, currency, kind,
            source_type, source_id, sequence, happened_at, created_at)
        SELECT id, new_id(now() + n * interval '1 ms'), 'provider_clearing', 'wallet', amount,
            'NGN', 'deposit', 'payin', new_id(now()), 0, now(), now()
        FROM book, unnest(ARRAY[200000, 50000]) WITH ORDINALITY given (amount, n)
    )
    INSERT INTO ledger_balances (book_id, kind, owner_id, credits)
    SELECT id, 'wallet', '00000000-0000-0000-0000-000000000000', 250000 FROM book
"""


async def filled(s: Story) -> None:
    """Play a payment provider's report: customers have paid into the wallet."""
    s.chapter("2026-01-31T18:30:00Z")
    s.known["treasury_key"] = s.sends(
        "POST /api/developer/api-keys",
        {"name": "Treasury", "environment": "test", "scopes": ["wallet:read"]},
    )
    s.sends("GET /v1/payment-providers", by="owner", headers=_TEST)
    s.sends(
        "PUT /v1/payment-providers",
        {"provider": "sandbox", "selected": True},
        by="owner",
        headers=_TEST,
    )
    s.sends("GET /v1/payment-providers", by="owner", headers=_LIVE)
    secrets = {"secret_key": "sk_live_5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a"}
    wanted = {"provider": "paystack", "secrets": secrets, "selected": True}
    s.sends("PUT /v1/payment-providers", wanted, by="owner", headers=_LIVE)
    few = {"provider": "flutterwave", "secrets": secrets}
    s.sends("PUT /v1/payment-providers", few, by="owner", headers=_LIVE, status=422)
    s.tokens["treasury"] = s.known["treasury_key"]["secret"]
    s.sends("GET /v1/wallet/statement", by="treasury")
    await s.happens(_DEPOSIT)
    s.sends("GET /v1/wallet", by="treasury")
    found = s.sends("GET /v1/wallet/statement", query={"limit": 1}, by="treasury")
    before = int(found[0]["balanceAfter"] - found[0]["amount"])
    more = {"limit": 20, "cursor": f"{found[0]['id']}_{before}_{before}"}
    s.sends("GET /v1/wallet/statement", query=more, by="treasury")
    wrong = {"cursor": "next"}
    s.sends("GET /v1/wallet/statement", query=wrong, by="treasury", status=422)
