"""Notices of an endpoint that fails: in the audit log and in the log, before and when it ends."""

from datetime import datetime

import structlog
from asyncpg import Record

from tillhouse.access import audit
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.webhooks.rules import FAILURES_TO_DISABLE

_ACTOR = audit.Actor(name="webhook sender", ip="local")

log = structlog.get_logger()


async def note(db: Db, row: Record, now: datetime) -> None:
    """Write into the audit log that an endpoint is failing, or was disabled."""
    what = ("webhook_endpoint.failing", "Webhook endpoint about to be disabled by failures")
    if row["is_disabled"]:
        what = ("webhook_endpoint.disabled", "Webhook endpoint disabled by failures")
    metadata = {
        "webhookEndpointId": str(row["id"]),
        "environment": row["environment"],
        "consecutiveFailures": row["failures"],
        "failingSince": iso(row["first_failed_at"]),
        "disabledAfter": FAILURES_TO_DISABLE,
    }
    await audit.append(db, row["business_id"], _ACTOR, what, metadata, now)


def log_one(row: Record) -> None:
    """Tell the operator the same, once it is committed."""
    log.warning(
        "webhook_endpoint_disabled" if row["is_disabled"] else "webhook_endpoint_failing",
        business=str(row["business_id"]),
        endpoint=str(row["id"]),
        failures=row["failures"],
    )
