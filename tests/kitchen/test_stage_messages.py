"""The messages of the stages: suggested, set, refused."""

from tests.make import Business

MESSAGES = "/v1/kitchen/stage-messages"


async def test_nothing_is_sent_until_somebody_says_so(business: Business) -> None:
    """Four stages, each with a suggestion, none of it sent."""
    api = await business.client("orders:read")
    found = (await api.get(MESSAGES, status=200)).data
    assert [one["stage"] for one in found] == ["queued", "preparing", "ready", "served"]
    assert not any(one["isSent"] for one in found)
    assert all(one["text"] and one["updatedAt"] is None for one in found)


async def test_a_stage_is_set_and_the_others_stay(business: Business) -> None:
    """A named stage changes, again and again; a live book has texts of its own."""
    api = await business.client("orders:write", "orders:read")
    ready = {"stage": "ready", "is_sent": True, "text": "{code}!"}
    template = {"name": "order_ready", "language": "en"}
    await api.request("PUT", MESSAGES, {"messages": [ready]}, status=200)
    body = {"messages": [{**ready, "is_sent": False, "text": "", "template": template}]}
    answer = await api.request("PUT", MESSAGES, body, status=200)
    found = {one["stage"]: one for one in answer.data}
    assert found["ready"]["text"] == ""
    assert found["ready"]["isSent"] is False
    assert found["ready"]["template"] == template
    assert found["queued"]["updatedAt"] is None
    live = await business.client("orders:read", environment="live")
    assert (await live.get(MESSAGES, status=200)).data[2]["updatedAt"] is None


async def test_every_wrong_field_is_named_at_once(business: Business) -> None:
    """Of form and of rules together."""
    api = await business.client("orders:write")
    body = {
        "messages": [
            {"stage": "burnt", "is_sent": True, "text": "{Code}"},
            {"stage": "ready", "is_sent": "yes", "text": "{customer} {kode}"},
            {"stage": "ready", "is_sent": True, "text": "x" * 1001},
        ]
    }
    answer = await api.request("PUT", MESSAGES, body, status=422)
    assert answer.wrong_fields == {
        "messages[0].stage",
        "messages[0].text",
        "messages[1].is_sent",
        "messages[1].text",
        "messages[2].stage",
        "messages[2].text",
    }
    for empty in ({"messages": []}, {}):
        answer = await api.request("PUT", MESSAGES, empty, status=422)
        assert answer.wrong_fields == {"messages"}
