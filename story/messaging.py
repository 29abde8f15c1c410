"""Messages to customers, and their answers."""

from story.story import Story

_WHATSAPP = {
    "phone_number": "+234 803 000 0001",
    "provider_number_id": "106540352242922",
    "access_token": "EAAGm0PX4ZCpsBAKZCz3fVtQ2",
    "app_secret": "5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a",
    "verify_token": "k3w9p-verify",
}
_LIVE = {"service-environment": "live"}
_TEST = {"service-environment": "test"}


def messages(s: Story) -> None:
    """Chinedu asks, Ada answers; a live number comes and goes."""
    s.chapter("2026-01-31T12:25:00Z")
    s.sends("GET /v1/messaging/numbers", query={"page": 1, "limit": 20})
    asked = {"from": "+234 803 000 0000", "text": "Is my order ready?"}
    heard = s.sends("POST /v1/messaging/sandbox/inbound", asked)
    s.known["conversation_id"] = heard["conversationId"]
    s.sends("POST /v1/conversations", {"phone_number": "+234 803 000 0000"})
    s.sends("POST /v1/conversations", {"phone_number": "nobody"}, status=422)
    s.sends("POST /v1/conversations/{conversation_id}/messages", {"text": "It is on your table."})
    s.sends("POST /v1/conversations/{conversation_id}/messages", {"text": " "}, status=422)
    s.sends("PATCH /v1/conversations/{conversation_id}", {"assignee_id": s.known["user_id"]})
    s.sends("GET /v1/conversations/{conversation_id}")
    s.sends(
        "GET /v1/conversations",
        query={
            "assignee_id": s.known["user_id"],
            "customer_id": s.known["customer_id"],
            "page": 1,
            "limit": 20,
        },
    )
    _inbox(s)
    s.sends("GET /v1/conversations/{conversation_id}/messages", query={"page": 1, "limit": 2})
    of_one = {"conversation_id": s.known["conversation_id"], "page": 1, "limit": 2}
    s.sends("GET /v1/messages", query={"search": "table", **of_one})
    s.sends("POST /v1/messaging/numbers", {"provider": "sandbox"}, status=409)
    live = s.sends("POST /v1/messaging/numbers", _WHATSAPP, by="owner", headers=_LIVE)
    s.sends(
        "DELETE /v1/messaging/numbers/{number_id}", by="owner", headers=_LIVE, number_id=live["id"]
    )


def _inbox(s: Story) -> None:
    """Ada works through the inbox: reads, notes, answers with a text kept ready, and closes."""
    talk = "/v1/conversations/{conversation_id}"
    s.sends("GET /v1/messaging/inbox")
    s.sends("PATCH /v1/messaging/inbox", {"assigns_automatically": False})
    s.sends("PUT /v1/messaging/presence", {"seconds": 300}, by="owner")
    s.sends("GET /v1/messaging/presence")
    s.sends("PUT /v1/messaging/presence", {"online": False}, by="owner")
    s.sends(f"POST {talk}/read", {})
    s.sends(f"POST {talk}/notes", {"text": "Prefers to be called."}, by="owner", headers=_TEST)
    s.sends(f"GET {talk}/notes", query={"page": 1, "limit": 20})
    replies = "/v1/messaging/quick-replies"
    kept = s.sends(f"POST {replies}", {"shortcut": "hours", "text": "We open at 9."})
    s.sends(f"POST {replies}", {"shortcut": "hours", "text": "We open at 10."}, status=409)
    one = {"quick_reply_id": kept["id"]}
    s.sends(f"GET {replies}", query={"page": 1, "limit": 20})
    s.sends(f"GET {replies}/{{quick_reply_id}}", **one)
    s.sends(f"PATCH {replies}/{{quick_reply_id}}", {"text": "We open at 10."}, **one)
    s.sends(f"POST {talk}/messages", {"text": "/hours"})
    s.sends(f"DELETE {replies}/{{quick_reply_id}}", **one)
    announced = s.sends("POST /v1/messaging/attachments", {"filename": "menu.pdf"})
    file = {"attachment_id": announced["id"]}
    s.sends("GET /v1/messaging/attachments/{attachment_id}", **file)
    s.sends(f"POST {talk}/messages", file, status=422)
    s.sends(f"PATCH {talk}", {"status": "snoozed"}, status=422)
    s.sends(f"PATCH {talk}", {"status": "closed"})
    query = {"status": "closed", "assigned": "true", "unread": "false", "search": "Chin"}
    s.sends("GET /v1/conversations", query=query)
