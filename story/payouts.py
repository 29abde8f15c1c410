"""The wallet: what came in by a provider, and what is paid out of it."""

from story.story import NOBODY, Story
from story.webhooks import waits_for_deliveries

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


_DISPUTE = """
    WITH book AS (
        SELECT k.id, new_id(now()) AS payin_id FROM books k
        JOIN businesses b ON b.id = k.business_id
        WHERE b.name = 'Ada''s Kitchen' AND k.environment = 'test'
    ), paid AS (
        INSERT INTO payins (book_id, id, provider, provider_transaction_id, status, amount, fee,
            currency, paid_at, applied_at, created_at, updated_at)
        SELECT id, payin_id, 'sandbox', 'pi-17', 'received', 50000, 750, 'NGN', now(), now(),
            now(), now() FROM book
    )
    INSERT INTO disputes (book_id, id, payin_id, provider, provider_dispute_id, status, reason,
        amount, currency, taken_told, evidence_due_at, opened_at, created_at, updated_at)
    SELECT id, new_id(now()), payin_id, 'sandbox', 'dp-17', 'evidence_due', 'fraudulent', 50000,
        'NGN', 0, now() + interval '7 days', now(), now(), now() FROM book
"""


async def filled(s: Story) -> None:
    """Play a payment provider's report: customers have paid into the wallet."""
    s.chapter("2026-01-31T18:30:00Z")
    s.known["treasury_key"] = s.sends(
        "POST /api/developer/api-keys",
        {
            "name": "Treasury",
            "environment": "test",
            "scopes": ["wallet:read", "wallet:withdrawals:create", "payouts:read", "payouts:write"],
            "withdrawal_policy": {
                "max_per_transaction": 50000,
                "max_per_day": 60000,
                "currency": "NGN",
            },
        },
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
    cursor = s.pages("GET /v1/wallet/statement", query={"limit": 1}, by="treasury")
    more = {"limit": 20, "cursor": cursor}
    s.sends("GET /v1/wallet/statement", query=more, by="treasury")
    january = {"from": "2026-01-01", "to": "2026-01-31"}
    s.sends("GET /v1/wallet/statement", query=january, by="treasury")
    await s.happens(_DISPUTE)
    open_ones = {"status": "opened,evidence_due", "page": 1, "limit": 10}
    found = s.sends("GET /v1/disputes", query=open_ones)
    s.sends("GET /v1/disputes", query={"order_id": NOBODY})
    s.sends("GET /v1/disputes", query={"reservation_id": NOBODY})
    s.sends("GET /v1/disputes/{dispute_id}", dispute_id=found[0]["id"])
    s.sends("GET /v1/disputes/{dispute_id}", dispute_id=NOBODY, status=404)
    wrong = {"cursor": "next"}
    s.sends("GET /v1/wallet/statement", query=wrong, by="treasury", status=422)


def accounts(s: Story) -> None:
    """An account at a bank, named by its provider; one that is none; one that is not needed."""
    s.chapter("2026-01-31T18:40:00Z")
    by = {"by": "treasury"}
    s.sends("GET /v1/payout-accounts/banks", **by)
    ours = {"bank_code": "001", "account_number": "0123456789"}
    s.known["payout_account_id"] = s.sends("POST /v1/payout-accounts", ours, **by)["id"]
    s.sends("POST /v1/payout-accounts", ours, status=409, **by)
    none = {"bank_code": "001", "account_number": "0123450000"}
    s.sends("POST /v1/payout-accounts", none, **by)
    s.sends("POST /v1/payout-accounts", {"bank_code": "1/1"}, status=422, **by)
    s.sends("GET /v1/payout-accounts/{payout_account_id}", **by)
    s.sends("GET /v1/payout-accounts", query={"page": 1, "limit": 10}, **by)


def withdrawn(s: Story) -> None:
    """Takings go to the bank; a mistake is cancelled; a policy and a freeze say no."""
    s.chapter("2026-01-31T18:50:00Z")
    by = {"by": "treasury"}
    asks, one = "POST /v1/wallet/withdrawals", "GET /v1/wallet/withdrawals/{withdrawal_id}"
    takings = {
        "amount": 40000,
        "payout_account_id": s.known["payout_account_id"],
        "narration": "Takings of January",
        "reference": "PAYOUT-2026-01",
    }
    # The owner's new password has frozen them.
    s.sends("GET /v1/wallet/payouts", **by)
    here = {"by": "owner", "headers": {"Service-Environment": "test"}}
    s.sends("PUT /v1/wallet/payouts", {"frozen": False, "max_per_day": 500000}, **here)
    s.sends(asks, takings, status=422, **by)
    first = {"headers": {"Idempotency-Key": "takings-2026-01"}, **by}
    s.known["withdrawal_id"] = s.sends(asks, takings, **first)["id"]
    s.sends(asks, takings, **first)
    s.sends(one, **by)
    s.sends("POST /v1/wallet/withdrawals/{withdrawal_id}/cancel", **by)
    second = {"headers": {"Idempotency-Key": "takings-2026-02"}, **by}
    s.sends(asks, {**takings, "amount": 50001}, status=400, **second)
    again = s.sends(asks, {**takings, "amount": 15000}, **second)
    third = {"headers": {"Idempotency-Key": "takings-2026-03"}, **by}
    s.sends(asks, {**takings, "amount": 50000}, status=400, **third)
    listed = {
        "status": "requested,processing",
        "payout_account_id": takings["payout_account_id"],
        "page": 1,
        "limit": 10,
    }
    refund = {"order_id": s.known["old_id"], "reason": "The card was closed"}
    s.sends(asks, {**takings, "amount": 500, "refund": refund}, status=403, **third)
    s.sends("GET /v1/wallet/withdrawals", query=listed, **by)
    s.sends("GET /v1/wallet", **by)
    with s.working():
        s.waits(one, lambda told: told["status"] == "completed", withdrawal_id=again["id"], **by)
        waits_for_deliveries(s)
    s.sends(one, withdrawal_id=again["id"], **by)
    late = {"withdrawal_id": again["id"], "status": 409, **by}
    s.sends("POST /v1/wallet/withdrawals/{withdrawal_id}/cancel", **late)
    leaked = {"frozen": True, "reason": "A key may have leaked"}
    s.sends("PUT /v1/wallet/payouts", leaked, **by)
    s.sends(asks, {**takings, "amount": 10}, status=400, **third)
    s.sends("PUT /v1/wallet/payouts", {"frozen": False}, status=400, **by)
    s.sends("GET /v1/wallet/payouts", **by)
    s.sends("DELETE /v1/payout-accounts/{payout_account_id}", **by)
