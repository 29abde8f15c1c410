"""Developer apps and the scope catalogue."""

from tests.make import Business, Make

APPS = "/api/developer/apps"

# The scopes of the contract; the rest of the catalogue is the product's own.
CONTRACT_SCOPES = {
    "voice:read",
    "voice:calls:read",
    "voice:calls:create",
    "orders:read",
    "orders:write",
    "finance:read",
    "payment_links:write",
    "payouts:write",
    "wallet:withdrawals:create",
}


async def test_an_app_belongs_to_one_environment(business: Business) -> None:
    """The record is the contract's, and the list shows it after the default apps."""
    body = {"name": " Shop front ", "environment": "live"}
    app = (await business.owner.post(APPS, body, status=201)).data
    assert app == {
        "id": app["id"],
        "businessId": business.id,
        "name": "Shop front",
        "environment": "live",
        "status": "active",
        "isDefault": False,
        "createdAt": app["createdAt"],
        "updatedAt": app["createdAt"],
    }
    listed = (await business.owner.get(APPS, status=200)).data
    assert listed[-1] == app
    assert [a["isDefault"] for a in listed] == [True, True, False]


async def test_wrong_fields_of_an_app_are_named(business: Business) -> None:
    """Two to 120 characters, test or live, nothing else."""
    for body, named in (
        ({}, {"name", "environment"}),
        ({"name": "A", "environment": "x"}, {"name", "environment"}),
        ({"name": "x" * 121, "environment": "test"}, {"name"}),
        ({"name": "Shop", "environment": "test", "isDefault": True}, {"isDefault"}),
    ):
        answer = await business.owner.post(APPS, body, status=422)
        assert answer.wrong_fields == named
    for name in ("AB", "x" * 120):
        await business.owner.post(APPS, {"name": name, "environment": "test"}, status=201)


async def test_apps_of_others_are_not_listed(business: Business, make: Make) -> None:
    """Each business sees its own."""
    other = await make.business()
    body = {"name": "Theirs", "environment": "test"}
    await other.owner.post(APPS, body, status=201)
    listed = (await business.owner.get(APPS, status=200)).data
    assert {app["businessId"] for app in listed} == {business.id}
    assert len(listed) == 2


async def test_making_an_app_is_noted(business: Business) -> None:
    """With its id and environment."""
    body = {"name": "Shop", "environment": "test"}
    app = (await business.owner.post(APPS, body, status=201)).data
    [event, _] = (await business.owner.get("/api/developer/events", status=200)).data
    assert event["eventType"] == "developer_app.created"
    assert event["metadata"] == {"developerAppId": app["id"], "environment": "test"}


async def test_the_catalogue_tells_label_group_and_risk(business: Business) -> None:
    """Every scope of the contract is in it, and what each grants is too."""
    scopes = (await business.owner.get("/api/developer/scopes", status=200)).data
    by_name = {scope["name"]: scope for scope in scopes}
    assert len(by_name) == len(scopes)
    assert by_name.keys() >= CONTRACT_SCOPES
    assert all(scope["label"] and scope["group"] for scope in scopes)
    assert {scope["risk"] for scope in scopes} <= {"low", "medium", "high", "critical"}
    assert len(by_name["finance:read"]["grants"]) == 2
    assert all(child in by_name for scope in scopes for child in scope["grants"])


async def test_every_scope_of_the_catalogue_can_be_given(business: Business) -> None:
    """One test key with all of them; the withdrawal scope brings its policy."""
    scopes = (await business.owner.get("/api/developer/scopes", status=200)).data
    names = [scope["name"] for scope in scopes]
    policy = {"max_per_transaction": 1, "max_per_day": 1, "currency": "USD"}
    assert (await business.key(*names, withdrawal_policy=policy))["scopes"] == names
