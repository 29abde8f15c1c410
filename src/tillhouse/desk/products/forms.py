"""Forms of goods: the stock of a variant, and its prices in stores."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import number
from tillhouse.desk.session.forms import Form


def own_stock(form: Form, prices: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a variant's stock, and of its prices in stores."""
    threshold = form.get("low_stock_threshold")
    body: dict[str, Any] = {
        "tracks_stock": "tracks_stock" in form,
        "stock_policy": form.get("stock_policy") or None,
        "low_stock_threshold": number(threshold) if threshold else None,
    }
    if "has_prices" in form:
        body["prices"] = [{"store_id": store, "price": price} for store, price in prices.items()]
    return body
