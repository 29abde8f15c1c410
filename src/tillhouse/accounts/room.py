"""People and their businesses: the face of the room."""

from datetime import timedelta

from tillhouse.access.attempt_rules import LOCKED_FOR
from tillhouse.access.store import attempts as store
from tillhouse.accounts import notices
from tillhouse.accounts.forgotten import mailing as forgotten
from tillhouse.accounts.forgotten.store import delete_old_links
from tillhouse.accounts.members import mailing
from tillhouse.accounts.members.store import delete_old_invitations
from tillhouse.accounts.routes import ROUTES
from tillhouse.db.constraints import wrong_field
from tillhouse.db.pool import Db
from tillhouse.http.route import Group
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.room import Room

# An ended session is still a sign that its owner logs in from that network.
SESSIONS_KEPT_FOR = timedelta(days=30)
_ROWS = 1000


async def sweep(db: Db, _job: Job) -> bool:
    """Forget some that are over; whether there may be more."""
    moment = now()
    counts = (
        await store.delete_old_failures(db, moment - LOCKED_FOR, _ROWS),
        await store.delete_empty_cells(db, moment, _ROWS),
        await store.delete_old_sessions(db, moment - SESSIONS_KEPT_FOR, _ROWS),
        await delete_old_invitations(db, moment, _ROWS),
        await delete_old_links(db, moment, _ROWS),
    )
    return max(counts) == _ROWS


SWEEP = LocalKind(name="logins", run=sweep, every=timedelta(minutes=10))


ROOM = Room(
    name="accounts",
    routes=ROUTES,
    groups=(
        Group(
            "/api/auth",
            "Account",
            "Register a business, log in, prove the password again, log out.",
            "authentication",
        ),
        Group(
            "/v1/business",
            "Business",
            "The business itself: its name, how it trades, its particulars on receipts.",
            "places",
        ),
        Group(
            "/v1/members",
            "People",
            "The people of the business: invited, given a role, removed.",
            "authentication",
        ),
    ),
    kept_tables=("books", "businesses", "members", "second_factors", "subscriptions", "users"),
    swept_tables={"invitations": "logins", "password_links": "logins"},
    jobs=lambda services: (
        mailing.kind(services),
        forgotten.kind(services),
        notices.kind(services),
    ),
    chores=lambda _services: (SWEEP,),
    refusals=(
        wrong_field("users_email_key", "email", "is already registered; log in instead"),
        wrong_field(
            "businesses_currency_form", "currency", "must be an ISO 4217 code, such as NGN"
        ),
        wrong_field("businesses_country_form", "country", "must be an ISO 3166 code, such as NG"),
    ),
)
