"""Later changes, and deletions."""

from story.story import Story


def changes(s: Story) -> None:
    """Play the later changes."""
    s.chapter("2026-02-02T09:30:00Z")
    s.sends("PATCH /v1/customers/{customer_id}", {"notes": "Likes it mild now."})
    s.sends("PATCH /v1/categories/{category_id}", {"position": 2})
    s.sends("DELETE /v1/categories/{category_id}", status=409)
    s.sends("PATCH /v1/tags/{tag_id}", {"name": "Birthday party"})
    s.sends("PATCH /v1/stores/{store_id}", {"preparation_minutes": 25})
    s.sends("PATCH /v1/tables/{table_id}", {"seats": 6})
    s.sends("PATCH /v1/products/{product_id}", {"description": "Smoky, and hot."})
    s.sends("PATCH /v1/variants/{variant_id}", {"price": 7000})
    share = {"name": "To share", "sku": "JOLLOF-XL", "price": 6500}
    shared = s.sends("POST /v1/products/{product_id}/variants", share)
    s.sends("POST /v1/products/{product_id}/variants", share, status=422)
    s.sends("DELETE /v1/variants/{variant_id}", variant_id=shared["id"])
    s.sends("DELETE /v1/variants/{variant_id}", status=409)
    s.sends("PATCH /v1/modifier-groups/{modifier_group_id}", {"max_choices": 1})
    s.sends("DELETE /v1/modifier-groups/{modifier_group_id}", status=409)


def deletions(s: Story) -> None:
    """Delete: a thing in use is refused; a thing that nothing needs goes."""
    s.sends("DELETE /v1/products/{product_id}", status=409)
    s.sends("DELETE /v1/products/{product_id}", product_id=s.known["bundle_id"])
    s.sends("DELETE /v1/orders/{order_id}")
    s.sends("GET /v1/orders/{order_id}", status=404)
    s.sends("DELETE /v1/products/{product_id}")
    s.sends("DELETE /v1/modifier-groups/{modifier_group_id}")
    s.sends("DELETE /v1/categories/{category_id}")
    s.sends("DELETE /v1/academic-terms/{term_id}")
    s.sends("DELETE /v1/tags/{tag_id}")
    s.sends("DELETE /v1/promotions/{promotion_id}")
    s.sends("DELETE /v1/stores/{store_id}", status=400)
    s.sends("DELETE /v1/tables/{table_id}")
    s.sends("DELETE /v1/customers/{customer_id}")
    empty = s.sends("POST /v1/stores", {"name": "Ikeja"})
    s.sends("DELETE /v1/stores/{store_id}", store_id=empty["id"])


def looks_back(s: Story) -> None:
    """Read the portal's account of all this; Ada logs out."""
    number = s.sends("GET /v1/messaging/numbers")[0]
    s.sends("DELETE /v1/messaging/numbers/{number_id}", number_id=number["id"])
    s.sends("POST /v1/messaging/numbers", {"provider": "sandbox"})
    s.sends("GET /api/developer/usage", query={"days": 7, "developer_app_id": s.known["app_id"]})
    s.sends("GET /api/developer/api-keys/{key_id}")
    s.sends("GET /api/developer/events", query={"per_page": 5})
    s.sends("GET /api/developer/events", query={"entity_id": s.known["key_id"], "per_page": 2})
    s.sends(
        "GET /api/developer/events",
        query={
            "api_key_id": s.known["key_id"],
            "event_type": "api_key.created",
            "start_date": "2024-01-01",
            "end_date": "2100-01-01",
            "page": 1,
        },
    )
    # Those of workers come in no order that a recording could keep.
    s.sends("GET /v1/events/stream", query={"events": "order.created,order.updated"})
    s.sends("POST /api/auth/logout")
    s.sends("GET /api/auth/me", status=401)
