"""The goods of the shop: categories, extras, products with variants, promotions, stock."""

from story.story import NOBODY, Story

_FIRST = {"page": 1, "limit": 20}
_JOLLOF = {
    "name": "Jollof rice",
    "description": "Smoky, from the wood fire.",
    "unit": "plate",
    "base_price": 1500,
    "tax_rate": 7.5,
    "variants": [
        {"name": "Small", "sku": "JOLLOF-S"},
        {
            "name": "Large",
            "sku": "JOLLOF-L",
            "price": 2000,
            "tracks_stock": True,
            "low_stock_threshold": 6,
        },
    ],
}
_HAPPY_HOUR = {
    "name": "Happy hour",
    "type": "percent",
    "value": 10,
    "minimum_subtotal": 3000,
    "maximum_discount": 2000,
    "ends_at": "2100-12-31",
    "days": [1, 2, 3],
    "from_time": "16:00",
    "to_time": "18:00",
    "limit_total": 100,
}


def menu(s: Story) -> None:
    """Categories, extras, and what is sold."""
    s.chapter("2026-01-06T08:00:00Z")
    dishes = s.sends("POST /v1/categories", {"name": "Main dishes", "position": 1})
    s.known["category_id"] = dishes["id"]
    s.sends("GET /v1/categories", query=_FIRST)
    s.sends("GET /v1/categories/{category_id}")
    options = [{"name": "Plantain", "price_delta": 300}, {"name": "Extra pepper"}]
    extras = {"name": "Extras", "max_choices": 2, "options": options}
    group = s.sends("POST /v1/modifier-groups", extras)
    s.known |= {"modifier_group_id": group["id"], "plantain_id": group["options"][0]["id"]}
    s.sends("POST /v1/modifier-groups", {**extras, "min_choices": 3}, status=422)
    s.sends("GET /v1/modifier-groups", query=_FIRST)
    s.sends("GET /v1/modifier-groups/{modifier_group_id}")
    own = {"category_id": dishes["id"], "modifier_group_ids": [group["id"]]}
    jollof = s.sends("POST /v1/products", {**_JOLLOF, **own})
    s.known |= {
        "product_id": jollof["id"],
        "small_id": jollof["variants"][0]["id"],
        "variant_id": jollof["variants"][1]["id"],
    }
    s.sends("POST /v1/products", {**_JOLLOF, "name": "Fried rice"}, status=409)
    s.sends("POST /v1/products", {"name": "Rice", "base_price": "1,500"}, status=422)
    drink = {"name": "Chapman", "sku": "CHAPMAN", "base_price": "800.00", "tax_rate": 7.5}
    s.known["drink_id"] = s.sends("POST /v1/products", drink)["id"]
    components = [
        {"product_id": jollof["id"], "variant_id": s.known["variant_id"], "quantity": 2},
        {"product_id": s.known["drink_id"], "quantity": 2},
    ]
    bundle = {"name": "Lunch for two", "base_price": 5000, "components": components}
    s.known["bundle_id"] = s.sends("POST /v1/products", bundle)["id"]
    s.sends("GET /v1/products/{product_id}")
    s.sends("GET /v1/products/{product_id}", product_id=s.known["bundle_id"])
    s.sends("GET /v1/products", query={"page": 1})
    s.sends(
        "GET /v1/products",
        query={
            "search": "jol",
            "type": "variable",
            "is_active": "true",
            "category_id": dishes["id"],
        },
    )
    s.sends("GET /v1/products", query={"is_active": "true", "out_of_stock": "true"})
    s.sends("GET /v1/products", query={**s.after("2020-01-01T00:00:00", dishes["id"]), "limit": 1})
    s.sends("PATCH /v1/products/{product_id}", {"type": "service"}, status=422)


def promotions(s: Story) -> None:
    """Two promotions: one for the afternoon, one at any time."""
    s.known["promotion_id"] = s.sends("POST /v1/promotions", _HAPPY_HOUR)["id"]
    s.sends("POST /v1/promotions", {**_HAPPY_HOUR, "value": 0, "to_time": None}, status=422)
    fixed = {
        "name": "Hundred off",
        "type": "fixed",
        "value": 100,
        "scope": "products",
        "product_ids": [s.known["product_id"]],
    }
    s.known["hundred_id"] = s.sends("POST /v1/promotions", fixed)["id"]
    s.sends("GET /v1/promotions", query={"is_active": "true", **_FIRST})
    s.sends("GET /v1/promotions/{promotion_id}")
    s.sends("PATCH /v1/promotions/{promotion_id}", {"limit_total": 150})


def stock(s: Story) -> None:
    """A delivery, and what it may not become."""
    s.chapter("2026-01-31T07:15:00Z")
    delivery = {
        "variant_id": s.known["variant_id"],
        "store_id": s.known["store_id"],
        "kind": "purchase",
        "quantity": 24,
        "reason": "Delivery of Saturday",
    }
    s.sends("POST /v1/inventory/adjustments", delivery)
    waste = {**delivery, "kind": "waste", "quantity": 100}
    s.sends("POST /v1/inventory/adjustments", waste, status=400)
    s.sends("POST /v1/inventory/adjustments", {**delivery, "variant_id": NOBODY}, status=422)
    s.sends("GET /v1/inventory", query={"store_id": s.known["store_id"]})


def later_stock(s: Story) -> None:
    """Counted, and carried to the kitchen of the business."""
    s.chapter("2026-01-31T18:00:00Z")
    count = {
        "store_id": s.known["store_id"],
        "reason": "One fell down",
        "items": [{"variant_id": s.known["variant_id"], "counted": 11}],
    }
    s.sends("POST /v1/inventory/counts", count)
    move = {
        "from_store_id": s.known["store_id"],
        "reason": "Back to the main kitchen",
        "items": [{"variant_id": s.known["variant_id"], "quantity": 5}],
    }
    s.sends("POST /v1/inventory/transfers", move)
    s.sends("POST /v1/inventory/transfers", move | {"to_store_id": s.known["store_id"]}, status=422)
    too_much = [{"variant_id": s.known["variant_id"], "quantity": 50}]
    s.sends("POST /v1/inventory/transfers", move | {"items": too_much}, status=400)
    s.sends("GET /v1/inventory", query={"variant_id": s.known["variant_id"]})
    s.sends(
        "GET /v1/inventory", query={"low": "true", "product_id": s.known["product_id"], **_FIRST}
    )
    s.sends("GET /v1/inventory/moves", query={"page": 1, "limit": 5})
    s.sends("GET /v1/inventory/moves", query={"kind": "transfer", "store_id": s.known["store_id"]})
    s.sends(
        "GET /v1/inventory/moves",
        query={"order_id": s.known["order_id"], "variant_id": s.known["variant_id"]},
    )
