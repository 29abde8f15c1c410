"""The nearest name: typing errors find theirs, other words find none."""

import pytest

from tillhouse.kit.suggestions import nearest

ORDER = ("items", "payment_method", "amount_paid", "discount_amount", "promotion_id",
         "customer_id", "customer_name", "store_id", "store_name", "channel", "tags", "notes",
         "scheduled_for", "occurred_at", "service_mode", "service_charge_amount",
         "table_session_id", "table_label", "covers", "send_to_kitchen", "served_by_user_id",
         "hotel_reservation_id", "hotel_room_id", "academic_term_id")  # fmt: skip
KEY = ("name", "environment", "scopes", "developer_app_id", "allowed_origins",
       "allowed_ip_ranges", "expires_at", "withdrawal_policy")  # fmt: skip
PRODUCT = ("name", "base_price", "type", "unit", "sku", "tax_rate", "variants", "prices")
ITEM = ("product_name", "quantity", "product_id", "variant_id", "custom_price", "modifiers")
GROUP = ("name", "min_choices", "max_choices", "options")
LIST = ("search", "page", "limit", "status", "start_date", "end_date", "store_ids", "tag_ids")


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("item", ORDER, "items"),
        ("itmes", ORDER, "items"),
        ("paymentMethod", ORDER, "payment_method"),
        ("payment-method", ORDER, "payment_method"),
        ("PaymentMethod", ORDER, "payment_method"),
        ("payment_methd", ORDER, "payment_method"),
        ("paymet_methods", ORDER, "payment_method"),
        ("amountPaid", ORDER, "amount_paid"),
        ("ammount_paid", ORDER, "amount_paid"),
        ("discount_ammount", ORDER, "discount_amount"),
        ("costumer_id", ORDER, "customer_id"),
        ("customer", ORDER, "customer_id"),
        ("store", ORDER, "store_id"),
        ("tag", ORDER, "tags"),
        ("note", ORDER, "notes"),
        ("chanel", ORDER, "channel"),
        ("sheduled_for", ORDER, "scheduled_for"),
        ("ocurred_at", ORDER, "occurred_at"),
        ("send_to_kichen", ORDER, "send_to_kitchen"),
        ("acedemic_term_id", ORDER, "academic_term_id"),
        ("nam", KEY, "name"),
        ("naem", KEY, "name"),
        ("enviroment", KEY, "environment"),
        ("environnement", KEY, "environment"),
        ("scope", KEY, "scopes"),
        ("allowed_ip_range", KEY, "allowed_ip_ranges"),
        ("allowed_orgins", KEY, "allowed_origins"),
        ("expire_at", KEY, "expires_at"),
        ("withdrawl_policy", KEY, "withdrawal_policy"),
        ("serach", LIST, "search"),
        ("pages", LIST, "page"),
        ("limits", LIST, "limit"),
        ("startDate", LIST, "start_date"),
        ("store_id", LIST, "store_ids"),
        ("price", PRODUCT, "base_price"),
        ("price", ITEM, "custom_price"),
        ("min", GROUP, "min_choices"),
        ("max", GROUP, "max_choices"),
    ],
)
def test_a_typing_error_finds_its_name(typed: str, known: tuple[str, ...], meant: str) -> None:
    """Letters missing, doubled, swapped; another case, another number, an id left out."""
    assert nearest(typed, known) == meant


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        *((word, ORDER) for word in (
            "status", "total_amount", "total", "amount", "price", "currency", "date", "discount",
            "payment_status", "custom_price", "email", "type", "id", "code", "created_at", "x",
            "", "zz", "tax", "fees", "table", "staff_id", "short_code", "order_id", "updated_at",
        )),
        *((word, KEY) for word in ("type", "status", "secret", "url", "events", "game", "page")),
        *((word, LIST) for word in ("offset", "per_page", "sort", "since", "dates", "q", "stage")),
    ],
)  # fmt: skip
def test_another_word_finds_none(typed: str, known: tuple[str, ...]) -> None:
    """Names of something else, too short ones, and those with a word in common."""
    assert nearest(typed, known) is None


def test_the_nearest_wins() -> None:
    """Not the first that is near."""
    assert nearest("start_dat", ("start_dates", "start_date")) == "start_date"
    assert nearest("start_dates", ("start_date", "start_dates")) == "start_dates"


def test_a_hostile_name_costs_little() -> None:
    """Compared by its beginning."""
    assert nearest("a" * 1_000_000, ORDER) is None
    assert nearest("customer_name" * 100_000, ORDER) is None
