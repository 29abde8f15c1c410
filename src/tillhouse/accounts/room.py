"""People and their businesses: the face of the room."""

from tillhouse.access.process import Services
from tillhouse.accounts import password_notice
from tillhouse.accounts.forgotten import mailing as forgotten
from tillhouse.accounts.members import mailing
from tillhouse.accounts.routes import ROUTES
from tillhouse.accounts.sweeping import SWEEP
from tillhouse.db.constraints import wrong_field
from tillhouse.http.route import Group
from tillhouse.jobs.kinds import LocalKind
from tillhouse.room import Room


def _chores(_services: Services) -> tuple[LocalKind, ...]:
    return (SWEEP,)


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
        password_notice.kind(services),
    ),
    chores=_chores,
    refusals=(
        wrong_field("users_email_key", "email", "is already registered; log in instead"),
        wrong_field(
            "businesses_currency_form", "currency", "must be an ISO 4217 code, such as NGN"
        ),
        wrong_field("businesses_country_form", "country", "must be an ISO 3166 code, such as NG"),
    ),
)
