"""How the shop begins: an account, a key for the till, tables, people, and what is sold."""

import base64
from datetime import UTC, datetime

from story.story import NOBODY, PASSWORD, Story
from tillhouse.accounts.second_factor.rules import code_at

_SCOPES = (
    *(
        f"{what}:{way}"
        for what in (
            "orders",
            "stores",
            "tables",
            "products",
            "customers",
            "promotions",
            "messaging",
        )
        for way in ("read", "write")
    ),
    "inventory:write",
    "finance:read",
    "finance:expenses:write",
    "finance:closings:write",
    "payment_links:write",
    "events:read",
    "voice:read",
)
_FIRST = {"page": 1, "limit": 20}
_ACCOUNT = {
    "name": "Ada Okafor",
    "email": "ada@example.com",
    "password": PASSWORD,
    "business_name": "Ada's Kitchen",
    "business_type": "restaurant",
    "currency": "NGN",
    "country": "NG",
    "time_zone": "Africa/Lagos",
}


def account(s: Story) -> None:
    """Ada registers, logs in, proves her password."""
    s.chapter("2026-01-05T08:00:00Z")
    begun = s.sends("POST /api/auth/register", _ACCOUNT, by="nobody")
    s.known |= {
        "user_id": begun["userId"],
        "business_id": begun["businessId"],
        "staff_id": begun["userId"],
    }
    s.sends("POST /api/auth/register", _ACCOUNT, by="nobody", status=422)
    wrong = {"name": "Ada", "email": "ada", "password": "short", "shop": "Ada's"}
    s.sends("POST /api/auth/register", wrong, by="nobody", status=422)
    proof = {"email": "ada@example.com", "password": PASSWORD}
    s.sends("POST /api/auth/login", {**proof, "password": "a short one"}, by="nobody", status=401)
    session = s.sends("POST /api/auth/login", proof, by="nobody")
    refreshed = s.sends(
        "POST /api/auth/refresh", {"refresh_token": session["refreshToken"]}, by="nobody"
    )
    s.tokens["owner"] = refreshed["accessToken"]
    s.sends("GET /api/auth/me")
    s.sends("GET /api/auth/me", by="nobody", status=401)
    _sessions(s)
    _forgotten(s)
    switched = s.sends("POST /api/auth/switch", {"business_id": s.known["business_id"]})
    s.sends("POST /api/auth/switch", {"business_id": NOBODY}, status=404)
    s.tokens["owner"] = switched["accessToken"]
    s.sends("POST /api/developer/api-keys", _key("Too early"), status=403)
    s.sends("POST /api/auth/verify-password", {"password": "another phrase"}, status=403)
    s.sends("POST /api/auth/verify-password", {"password": PASSWORD})
    second_factor(s)


def second_factor(s: Story) -> None:
    """Ada turns a second factor on, logs in with it, and turns it off for the rest of the story."""
    path = "/api/auth/second-factor"
    s.sends(f"POST {path}/recovery-codes", status=409)
    begun = s.sends(f"POST {path}")
    secret = base64.b32decode(begun["secret"])
    code = code_at(secret, datetime.now(UTC))
    s.sends(f"POST {path}/confirm", {"code": "no code"}, status=403)
    told = s.sends(f"POST {path}/confirm", {"code": code})
    s.sends(f"GET {path}")
    proof = {"email": "ada@example.com", "password": PASSWORD}
    s.sends("POST /api/auth/login", proof, by="nobody", status=401)
    proof["code"] = told["recoveryCodes"][0]
    s.sends("POST /api/auth/login", proof, by="nobody")
    s.sends("POST /api/auth/login", proof, by="nobody", status=401)
    s.sends(f"POST {path}/recovery-codes")
    s.sends(f"DELETE {path}")


def _sessions(s: Story) -> None:
    """Ada looks where she is logged in, ends the rest, and chooses a password anew."""
    listed = s.sends("GET /api/auth/sessions")
    other = next(one["id"] for one in listed if not one["isCurrent"])
    s.sends("DELETE /api/auth/sessions/{login_session_id}", login_session_id=other)
    s.sends("DELETE /api/auth/sessions/{login_session_id}", login_session_id=other, status=404)
    s.sends("POST /api/auth/sessions/end-others")
    change = {"current_password": PASSWORD, "new_password": "password123"}
    s.sends("POST /api/auth/change-password", change, status=422)
    wrong = {"current_password": "another phrase", "new_password": "seven green bicycles"}
    s.sends("POST /api/auth/change-password", wrong, status=403)
    for before, after in ((PASSWORD, "seven green bicycles"), ("seven green bicycles", PASSWORD)):
        change = {"current_password": before, "new_password": after}
        s.sends("POST /api/auth/change-password", change)


def _forgotten(s: Story) -> None:
    """Ada forgot the password, and sets it by a link, which works once; then she logs in."""
    s.sends("POST /api/auth/forgot-password", {"email": "ada@example.com"}, by="nobody")
    link = s.operator("user", "password-link", "ada@example.com")["url"]
    body = {"token": link.rpartition("/")[2], "new_password": PASSWORD}
    operation = "POST /api/auth/reset-password"
    s.sends(f"{operation}/preview", {"token": body["token"]}, by="nobody")
    s.sends(operation, body | {"new_password": "password123"}, by="nobody", status=422)
    s.sends(operation, body, by="nobody")
    s.sends(operation, body, by="nobody", status=400)
    proof = {"email": "ada@example.com", "password": PASSWORD}
    s.tokens["owner"] = s.sends("POST /api/auth/login", proof, by="nobody")["accessToken"]


def _key(name: str, **fields: object) -> dict[str, object]:
    return {"name": name, "environment": "test", "scopes": list(_SCOPES), **fields}


def keys(s: Story) -> None:
    """An app with the key of the till, and one of a bookkeeper that comes and goes."""
    s.sends("GET /api/developer/scopes")
    app = s.sends("POST /api/developer/apps", {"name": "Tills", "environment": "test"})
    s.sends("GET /api/developer/apps")
    s.known["app_id"] = app["id"]
    till = s.sends(
        "POST /api/developer/api-keys",
        _key(
            "Till at Marina",
            developer_app_id=app["id"],
            allowed_origins=["shop.example.com"],
            allowed_ip_ranges=["203.0.113.0/24"],
        ),
        headers={"idempotency-key": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"},
    )
    s.known["key_id"] = till["id"]
    s.tokens["till"] = till["secret"]
    s.sends(
        "POST /api/developer/api-keys",
        _key(
            "Till at Marina",
            developer_app_id=app["id"],
            allowed_origins=["shop.example.com"],
            allowed_ip_ranges=["203.0.113.0/24"],
        ),
        headers={"idempotency-key": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"},
    )
    s.sends("POST /api/developer/api-keys", {"name": "", "scopes": ["orders:eat"]}, status=422)
    s.sends("GET /api/developer/api-keys/{key_id}")
    s.sends("GET /v1/voice/health")


def bookkeeper(s: Story) -> None:
    """A key of another kind: changed, rotated, revoked, deleted."""
    app = {"id": s.known["app_id"]}
    policy = {"max_per_transaction": 50000, "max_per_day": 250000, "currency": "NGN"}
    books = s.sends(
        "POST /api/developer/api-keys",
        _key(
            "Bookkeeper",
            scopes=["finance:read", "wallet:withdrawals:create"],
            withdrawal_policy=policy,
            expires_at="2100-01-31",
        ),
    )
    s.tokens["bookkeeper"] = books["secret"]
    s.sends("GET /api/developer/api-keys")
    s.sends("GET /api/developer/api-keys", query={"developer_app_id": app["id"]})
    one = {"key_id": books["id"]}
    s.sends("PATCH /api/developer/api-keys/{key_id}", {"name": "Books", "expires_at": None}, **one)
    s.sends("POST /api/developer/api-keys/{key_id}/view-secret", **one)
    rotated = s.sends("POST /api/developer/api-keys/{key_id}/rotate", **one)
    s.sends("GET /v1/voice/health", by="bookkeeper", status=401)
    s.tokens["bookkeeper"] = rotated["secret"]
    s.sends("GET /v1/customers", by="bookkeeper", status=403)
    s.sends("POST /api/developer/api-keys/{key_id}/revoke", **one)
    s.sends("POST /api/developer/api-keys/{key_id}/rotate", **one, status=400)
    s.sends("DELETE /api/developer/api-keys/{key_id}", **one)
    s.sends("GET /api/developer/api-keys/{key_id}", **one, status=404)
    s.sends("GET /v1/customers", by="owner", headers={"service-environment": "test"})
    s.sends("GET /v1/customers", by="owner", headers={"service-environment": "prod"}, status=422)
    s.sends("POST /v1/customers", {"name": "Chinedu Eze"}, by="owner", status=422)


def premises(s: Story) -> None:
    """The store, its tables and people, the labels that orders get."""
    s.chapter("2026-01-05T09:30:00Z")
    store = {
        "name": "Marina",
        "address": "12 Marina Road, Lagos",
        "phone": "+234 803 000 0001",
        "time_zone": "Africa/Lagos",
        "day_cutoff": "04:00",
    }
    s.known["store_id"] = s.sends("POST /v1/stores", store)["id"]
    s.sends("POST /v1/stores", store, status=409)
    _particulars(s)
    s.sends("POST /v1/stores", {"name": "", "day_cutoff": "25:00"}, status=422)
    s.sends("GET /v1/stores", query={"page": 1, "limit": 20})
    s.sends("GET /v1/stores/{store_id}")
    s.sends("GET /v1/stores/{store_id}", store_id=NOBODY, status=404)
    s.sends("GET /v1/stores/{store_id}", store_id="marina", status=404)
    s.sends("GET /v1/staff", query=_FIRST)
    s.sends("GET /v1/staff/{staff_id}")
    table = {"label": "T12", "store_id": s.known["store_id"], "area": "Terrace", "seats": 4}
    s.known["table_id"] = s.sends("POST /v1/tables", table)["id"]
    s.sends("POST /v1/tables", {"label": "T12", "store_id": NOBODY}, status=422)
    s.known["tag_id"] = s.sends("POST /v1/tags", {"name": "Birthday"})["id"]
    s.sends("POST /v1/tags", {"name": "Birthday"}, status=409)
    s.sends("GET /v1/tags", query=_FIRST)
    s.sends("GET /v1/tags/{tag_id}")
    term = {"name": "First term 2024/25", "starts_on": "2024-09-09", "ends_on": "2024-12-13"}
    s.known["term_id"] = s.sends("POST /v1/academic-terms", term)["id"]
    s.sends("POST /v1/academic-terms", {**term, "ends_on": "2024-09-01"}, status=422)
    s.sends("GET /v1/academic-terms", query=_FIRST)
    s.sends("GET /v1/academic-terms/{term_id}")
    s.sends("PATCH /v1/academic-terms/{term_id}", {"ends_on": "2024-12-06"})


def _particulars(s: Story) -> None:
    """The names of the business in its papers, its place, and the end of receipts."""
    patch = {
        "legal_name": "Ada's Kitchen Limited",
        "address": {"lines": ["12 Marina Road"], "city": "Lagos", "postal_code": "101241"},
        "tax_numbers": [{"label": "TIN", "number": "12345678-0001"}],
        "receipt_footer": "Thank you.",
        "service_charge_percent": 10,
        "service_charge_modes": ["dine_in", "room_service"],
    }
    s.sends("PATCH /v1/business", patch, by="owner")
    s.sends("PATCH /v1/business", {"currency": "USD", "time_zone": "Lagos"}, by="owner", status=422)
    s.sends("GET /v1/business")


def customers(s: Story) -> None:
    """Chinedu, who likes it hot, and a friend who has no number."""
    body = {
        "name": "Chinedu Eze",
        "email": "chinedu@example.com",
        "phone_number": "+234 803 000 0000",
        "whatsapp_number": "+234 803 000 0000",
        "notes": "Likes it hot.",
    }
    s.known["customer_id"] = s.sends("POST /v1/customers", body)["id"]
    s.sends("POST /v1/customers", {**body, "name": "Another Eze"}, status=409)
    s.known["friend_id"] = s.sends("POST /v1/customers", {"name": "Bola Ahmed"})["id"]
    s.sends("GET /v1/customers", query={"page": 2, "limit": 1})
    s.sends("GET /v1/customers", query={"search": "chi"})
    since = s.after("2026-01-01T00:00:00", s.known["customer_id"])
    s.sends("GET /v1/customers", query={**since, "limit": 1})
    s.sends("GET /v1/customers", query={"phone": "0803 000 0000", "email": "chinedu@example.com"})
    s.sends("GET /v1/customers", query={"limit": 1000, "sort": "name"}, status=422)
    s.sends("GET /v1/customers/{customer_id}")
    s.sends("PATCH /v1/customers/{customer_id}", {"notes": None, "email": "ada"}, status=422)
    s.sends("POST /v1/customers", raw=b'{"name": ', status=400)
    s.sends(
        "POST /v1/customers", raw=b"name=Bola", headers={"content-type": "text/plain"}, status=415
    )
