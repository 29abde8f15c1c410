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
    s.sends("GET /v1/conversations/{conversation_id}/messages", query={"page": 1, "limit": 2})
    s.sends("POST /v1/messaging/numbers", {"provider": "sandbox"}, status=409)
    live = s.sends("POST /v1/messaging/numbers", _WHATSAPP, by="owner", headers=_LIVE)
    s.sends(
        "DELETE /v1/messaging/numbers/{number_id}", by="owner", headers=_LIVE, number_id=live["id"]
    )
