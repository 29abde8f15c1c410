"""Somebody is invited to the shop, joins, gets another role, and leaves."""

from story.story import NOBODY, Story


def invited(s: Story) -> None:
    """A cashier joins by an invitation, which is good once; the last owner stays."""
    by = {"by": "owner"}
    new = {"email": "till@example.com", "role": "cashier"}
    made = s.sends("POST /v1/members", new, **by)
    s.sends("POST /v1/members", {"email": "till@example.com", "role": "chef"}, **by, status=422)
    s.sends("GET /v1/members", query={"page": 1, "limit": 20}, **by)
    joining = {"token": made["token"], "name": "Second Till", "password": "six brown bicycles"}
    operation = "POST /api/auth/accept-invitation"
    s.sends(f"{operation}/preview", {"token": made["token"]}, by="nobody")
    s.sends(operation, {**joining, "name": None}, by="nobody", status=422)
    joined = s.sends(operation, joining, by="nobody")
    s.sends(operation, joining, by="nobody", status=400)
    s.tokens["second till"] = joined["accessToken"]
    path = "/v1/business/second-factor"
    s.sends(f"PUT {path}", {"roles": ["cashier"]}, **by)
    s.sends(f"GET {path}", **by)
    s.sends("GET /api/auth/sessions", by="second till", status=403)
    s.sends(f"PUT {path}", {"roles": ["waiter"]}, **by, status=422)
    s.sends(f"PUT {path}", {"roles": []}, **by)
    one = {"user_id": joined["userId"], **by}
    s.sends("GET /v1/members/{user_id}", **one)
    s.sends("PATCH /v1/members/{user_id}", {"role": "developer"}, **one)
    s.sends("POST /v1/members/{user_id}/end-sessions", **one)
    s.sends("DELETE /v1/members/{user_id}", {"revoke_keys": True}, **one)
    s.sends("DELETE /v1/members/{user_id}", {}, user_id=NOBODY, **by, status=404)
    owner = {"user_id": s.known["user_id"], **by}
    s.sends("PATCH /v1/members/{user_id}", {"role": "admin"}, **owner, status=409)
