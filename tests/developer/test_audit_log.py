"""The audit log as the portal shows it: every action, filters, pages."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from tests.make import Business, Make
from tillhouse.kit.clock import parse_timestamp

EVENTS = "/api/developer/events"
KEYS = "/api/developer/api-keys"


async def listed(business: Business, query: str = "") -> list[dict[str, Any]]:
    """Events as the log shows them."""
    return (await business.owner.get(f"{EVENTS}?{query}", status=200)).data


async def types_of(business: Business, query: str = "") -> list[str]:
    """Their types, the newest first."""
    return [event["eventType"] for event in await listed(business, query)]


async def test_every_action_on_keys_is_noted(business: Business) -> None:
    """Each event says its actor, time and address, the key's name and environment, no secret."""
    key = await business.key("voice:read", name="Till")
    path = f"{KEYS}/{key['id']}"
    await business.owner.patch(path, {"name": "Kiosk"}, status=200)
    rotated = await business.owner.post(f"{path}/rotate", status=200)
    await business.owner.post(f"{path}/view-secret", status=200)
    await business.owner.post(f"{path}/revoke", status=200)
    await business.owner.delete(path, status=200)
    answer = await business.owner.get(EVENTS, status=200)
    assert [event["eventType"] for event in answer.data] == [
        "api_key.deleted", "api_key.revoked", "api_key.secret_viewed", "api_key.rotated",
        "api_key.updated", "api_key.created", "business.registered",
    ]  # fmt: skip
    for event in answer.data[:-1]:
        assert event["businessId"] == business.id
        assert event["developerApiKeyId"] == key["id"]
        assert (event["actorUserId"], event["actorName"]) == (business.user_id, "Ada Owner")
        assert event["ipAddress"] == "127.0.0.1"
        assert event["metadata"]["environment"] == "test"
        assert event["title"]
    assert answer.data[-2]["metadata"]["scopes"] == ["voice:read"]
    for secret in (key["secret"], rotated.data["secret"]):
        assert secret[len(key["secretPrefix"]) :].encode() not in answer.body


async def test_refused_actions_are_not_noted(business: Business) -> None:
    """The log tells what was done, in the transaction that did it."""
    await business.step_up()
    await business.owner.post(KEYS, {"name": "Till"}, status=422)
    await business.owner.delete(f"{KEYS}/{uuid4()}", status=404)
    assert await types_of(business) == ["business.registered"]


async def test_the_wrapper_says_success_and_tells_of_the_pages(business: Business) -> None:
    """As the contract has it."""
    answer = await business.owner.get(EVENTS, status=200)
    assert answer.json["success"] is True
    assert answer.json["meta"] == {
        "total": 1, "page": 1, "perPage": 50, "totalPages": 1, "hasMore": False,
    }  # fmt: skip


@pytest.mark.parametrize("query", ["", "&event_type=api_key.created"])
async def test_pages_hold_every_event_once(business: Business, query: str) -> None:
    """Newest first, whole in number, with and without a filter; past the end there is none."""
    for n in range(7):
        await business.key(name=f"key {n}")
    everything = await listed(business, query)
    total = len(everything)
    seen: list[dict[str, Any]] = []
    for page in range(1, 5):
        answer = await business.owner.get(f"{EVENTS}?page={page}&per_page=3{query}", status=200)
        pages = -(-total // 3)
        assert answer.json["meta"] == {
            "total": total, "page": page, "perPage": 3, "totalPages": pages,
            "hasMore": page < pages,
        }  # fmt: skip
        seen += answer.data
    assert seen == everything
    assert [e["createdAt"] for e in seen] == sorted((e["createdAt"] for e in seen), reverse=True)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("per_page=0", "per_page"),
        ("per_page=101", "per_page"),
        ("per_page=x", "per_page"),
        ("per_page=1.0", "per_page"),
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=1000001", "page"),
        ("page=" + "9" * 5000, "page"),
        ("api_key_id=x", "api_key_id"),
        ("api_key_id=null", "api_key_id"),
        ("start_date=yesterday", "start_date"),
        ("end_date=2026-13-01", "end_date"),
        ("event_type=" + "x" * 101, "event_type"),
    ],
)
async def test_a_wrong_filter_is_named(business: Business, query: str, named: str) -> None:
    """As strict as everywhere."""
    answer = await business.owner.get(f"{EVENTS}?{query}", status=422)
    assert answer.wrong_fields == {named}


async def test_filters_work_alone_and_together(business: Business) -> None:
    """By key, by type, and by both."""
    first, second = await business.key(), await business.key()
    await business.owner.post(f"{KEYS}/{first['id']}/revoke", status=200)
    by_first, by_created = f"api_key_id={first['id']}", "event_type=api_key.created"
    assert await types_of(business, by_first) == ["api_key.revoked", "api_key.created"]
    created = await listed(business, by_created)
    assert [e["developerApiKeyId"] for e in created] == [second["id"], first["id"]]
    both = await listed(business, f"{by_first}&{by_created}")
    assert [e["developerApiKeyId"] for e in both] == [first["id"]]
    for nothing in (f"api_key_id={uuid4()}", "event_type=api_key", "event_type="):
        assert await listed(business, nothing) == []


async def test_dates_are_days_of_the_business(make: Make) -> None:
    """A date covers its whole day where the business is; a timestamp is a moment."""
    business = await make.business(time_zone="Pacific/Kiritimati")
    [event] = await listed(business)
    # The event's own day: midnight may go by before this line.
    here = parse_timestamp(event["createdAt"]) + timedelta(hours=14)
    today, before = here.date().isoformat(), (here - timedelta(days=1)).date().isoformat()
    after = (here + timedelta(days=1)).date().isoformat()
    for query, found in (
        (f"start_date={today}", 1),
        (f"end_date={today}", 1),
        (f"start_date={today}&end_date={today}", 1),
        (f"end_date={before}", 0),
        (f"start_date={after}", 0),
        (f"start_date={event['createdAt']}&end_date={event['createdAt']}", 1),
        (f"start_date={today}&event_type=business.registered", 1),
        (f"start_date={today}&event_type=api_key.created", 0),
    ):
        assert len(await listed(business, query)) == found, query


async def test_other_businesses_have_their_own_log(business: Business, make: Make) -> None:
    """Also when one asks by a foreign key's id."""
    other = await make.business()
    key = await other.key()
    assert await types_of(business) == ["business.registered"]
    assert await listed(business, f"api_key_id={key['id']}") == []


async def test_everything_about_one_thing(business: Business, make: Make) -> None:
    """Entries that name it, wherever it stands in their facts, or that are about a key."""
    member = await make.member(business, "cashier")
    change = {"role": "manager"}
    await business.step_up()
    await business.owner.patch(f"/v1/members/{member.user_id}", change, status=200)
    await business.owner.patch(f"/v1/members/{business.user_id}", {"role": "owner"}, status=200)
    key = await business.key("voice:read")
    await business.owner.post(f"{KEYS}/{key['id']}/revoke", status=200)
    assert await types_of(business, f"entity_id={member.user_id}") == ["member.role_changed"]
    assert await types_of(business, f"entity_id={member.user_id.upper()}&event_type=x") == []
    of_key = f"entity_id={key['id']}"
    assert await types_of(business, of_key) == ["api_key.revoked", "api_key.created"]
    second = await business.owner.get(f"{EVENTS}?{of_key}&per_page=1&page=2", status=200)
    assert [event["eventType"] for event in second.data] == ["api_key.created"]
    assert second.json["meta"]["total"] == 2
    assert await types_of(business, f"entity_id={uuid4()}") == []
    wrong = await business.owner.get(f"{EVENTS}?entity_id=order", status=422)
    assert wrong.wrong_fields == {"entity_id"}
    other = await make.business()
    assert await types_of(other, f"entity_id={member.user_id}") == []


async def test_one_thing_is_found_by_an_index(business: Business, sql: asyncpg.Connection) -> None:
    """Also the id of a thing in facts within facts; whatever else is no id."""
    query = "SELECT audit_entities($1::text::jsonb)"
    ids = sorted(str(uuid4()) for _ in range(2))
    facts = {"orderId": ids[0], "more": [{"key": ids[1].upper()}, 7, None, "no id", ids[0]]}
    assert await sql.fetchval(query, json.dumps(facts)) == ids
    assert await sql.fetchval(query, "{}") == []
    plan = "EXPLAIN SELECT FROM audit_events WHERE audit_entities(metadata) @> ARRAY[$1::text]"
    async with sql.transaction():
        await sql.execute("SET LOCAL enable_seqscan = off")
        lines = [row[0] for row in await sql.fetch(plan.replace("$1", f"'{ids[0]}'"))]
    assert "audit_events_by_entity" in "\n".join(lines)
    assert await types_of(business, f"entity_id={ids[0]}") == []
