"""The words of a notice that an endpoint fails, as they are mailed. Pure."""

from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from tillhouse.kit.clock import iso
from tillhouse.providers.mail.text import given_name
from tillhouse.webhooks.rules import FAILURES_TO_DISABLE

_PORTAL = "/api/developer"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """A failing or disabled endpoint, as the job of its mail keeps it."""

    is_disabled: bool
    at: datetime
    failing_since: datetime
    # The failure that brought it about, in a word of the delivery log.
    error: str


class NotedEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The endpoint as it stands when the mail is written, and one of those who are told."""

    id: UUID
    name: str
    url: str
    status: str
    failure_count: int
    first_failed_at: datetime | None
    disabled_at: datetime | None
    environment: str
    app_name: str
    business_name: str
    email: str


def is_current(notice: Notice, endpoint: NotedEndpoint) -> bool:
    """Whether it still is so: a mail may be late, and must not tell of a failure that is over."""
    if notice.is_disabled:
        return endpoint.status == "disabled" and endpoint.disabled_at == notice.at
    return endpoint.status == "active" and endpoint.first_failed_at == notice.failing_since


def subject(notice: Notice, endpoint: NotedEndpoint) -> str:
    """One line: the event, the place."""
    word = "disabled" if notice.is_disabled else "failing"
    return f"Webhook endpoint {word}: {urlsplit(endpoint.url).hostname} ({endpoint.environment})"


def text(notice: Notice, endpoint: NotedEndpoint, base: str) -> str:
    """The mail. Of the address it tells the host alone: paths and queries hold secrets at times."""
    left = FAILURES_TO_DISABLE - endpoint.failure_count
    happened = (
        f"was disabled after {FAILURES_TO_DISABLE} failed attempts in a row. Nothing is sent there "
        "until you enable it."
        if notice.is_disabled
        else f"has failed {endpoint.failure_count} times in a row. After {left} more failures it "
        "is disabled."
    )
    host = urlsplit(endpoint.url).netloc
    return "\n".join(
        (
            f'The webhook endpoint "{given_name(endpoint.name)}" {happened}',
            "",
            f"Business:       {given_name(endpoint.business_name)}",
            f"Environment:    {endpoint.environment}",
            f"App:            {given_name(endpoint.app_name)}",
            f"Endpoint:       {endpoint.id} at {host}",
            f"Failing since:  {iso(notice.failing_since)}",
            f"Last error:     {notice.error}",
            "",
            "Each attempt, with its answer:",
            f"  GET {base}{_PORTAL}/webhook-deliveries?endpoint_id={endpoint.id}",
            *_remedy(notice, f"{base}{_PORTAL}/webhook-endpoints/{endpoint.id}"),
            "",
            "You get this mail because you may manage the webhooks of this business.",
            "",
        )
    )


def _remedy(notice: Notice, path: str) -> tuple[str, ...]:
    if not notice.is_disabled:
        return ("", "Once your server answers with 2xx again, there is nothing else to do.")
    return (
        "",
        "Once your server answers again, enable the endpoint:",
        f"  POST {path}/enable",
        "and have sent what failed, and what happened while it was disabled:",
        f'  POST {path}/recover  {{"since": "{iso(notice.failing_since)}"}}',
        f'  POST {path}/recover  {{"since": "{iso(notice.failing_since)}", "status": "missing"}}',
    )
