"""The routes of people: /api/auth."""

from tillhouse.access.call import AnonymousCall
from tillhouse.access.scopes import MANAGE_BUSINESS, MANAGE_MEMBERS
from tillhouse.accounts import actions
from tillhouse.accounts.business import actions as business
from tillhouse.accounts.forgotten import actions as forgotten
from tillhouse.accounts.members import actions as members
from tillhouse.accounts.members.types import AcceptedInvitation
from tillhouse.accounts.second_factor import actions as second_factor
from tillhouse.accounts.types import Tokens
from tillhouse.http.route import Open, Route, Scope, Session


async def accept_invitation(call: AnonymousCall, body: AcceptedInvitation) -> Tokens:
    """Join a business, and log in there."""
    joining = await members.join(call, body)
    who = (joining.user_id, joining.business_id)
    tokens = await actions.open_session(call, who, joining.password_changed_at)
    await second_factor.check_still_none(call, joining.user_id, joining.code)
    return tokens


_MANAGES = Session(permission=MANAGE_MEMBERS)
# Every member needs its zone and its type.
_READS_BUSINESS = Scope("stores:read", roles=("kitchen", "housekeeping"))
_STEPPED_UP = Session(permission=MANAGE_MEMBERS, step_up=True)
# The way to a second factor that the role needs, and out of a business that needs one.
_BEFORE_FACTOR = Session(before_factor=True)

ROUTES: tuple[Route, ...] = (
    Route("POST", "/api/auth/register", actions.register, Open(),
          "Register a business and its owner", "Business registered",
          status=201),
    Route("POST", "/api/auth/login", actions.log_in, Open(), "Log in", "Logged in"),
    Route("POST", "/api/auth/refresh", actions.refresh, Open(),
          "Exchange a refresh token for new tokens", "Session continued"),
    Route("POST", "/api/auth/logout", actions.log_out, _BEFORE_FACTOR, "Log out", "Logged out"),
    Route("POST", "/api/auth/verify-password", actions.verify_password, _BEFORE_FACTOR,
          "Verify the password again (step-up)", "Password verified", has_own_queue=True),
    Route("POST", "/api/auth/change-password", actions.change_password, Session(),
          "Change your password; all your other sessions end", "Password changed",
          has_own_queue=True),
    Route("POST", "/api/auth/forgot-password", forgotten.request_link, Open(),
          "Ask for a link that sets a new password",
          "If the address has an account and this server sends mails, a link is mailed to it"),
    Route("POST", "/api/auth/reset-password", forgotten.reset, Open(),
          "Set a new password by a link that was mailed; all your sessions end", "Password set"),
    Route("POST", "/api/auth/reset-password/preview", forgotten.preview, Open(),
          "Tell whose password a link sets, without using it", "Link"),
    Route("GET", "/api/auth/second-factor", second_factor.show, _BEFORE_FACTOR,
          "Read whether your second factor is on", "Second factor"),
    Route("POST", "/api/auth/second-factor", second_factor.begin,
          Session(step_up=True, before_factor=True),
          "Begin a second factor: a secret for an application that makes codes",
          "Secret: it is told this once", status=201),
    Route("DELETE", "/api/auth/second-factor", second_factor.turn_off, Session(step_up=True),
          "Turn your second factor off", "Second factor off"),
    Route("POST", "/api/auth/second-factor/confirm", second_factor.confirm, _BEFORE_FACTOR,
          "Turn your second factor on by its first code; all your other sessions end",
          "Second factor on: the recovery codes are told this once"),
    Route("POST", "/api/auth/second-factor/recovery-codes", second_factor.make_recovery_codes,
          Session(step_up=True), "Make your recovery codes anew",
          "Recovery codes: they are told this once"),
    Route("GET", "/api/auth/sessions", actions.list_sessions, Session(),
          "List your sessions", "Sessions"),
    Route("POST", "/api/auth/sessions/end-others", actions.end_other_sessions, Session(),
          "End all your other sessions", "Other sessions ended"),
    Route("DELETE", "/api/auth/sessions/{login_session_id}", actions.end_session, Session(),
          "End one of your sessions", "Session ended"),
    Route("POST", "/api/auth/switch", actions.switch, _BEFORE_FACTOR,
          "Switch to another of your businesses", "Business switched"),
    Route("GET", "/api/auth/me", actions.me, _BEFORE_FACTOR,
          "Read who is logged in", "You are logged in"),
    Route("POST", "/api/auth/accept-invitation", accept_invitation, Open(),
          "Join a business that invited you", "Business joined", status=201),
    Route("POST", "/api/auth/accept-invitation/preview", members.preview, Open(),
          "Tell what an invitation is to, without taking it", "Invitation"),
    Route("GET", "/v1/business", business.show, _READS_BUSINESS,
          "Read the business: how it trades, and its particulars on receipts", "Business"),
    Route("PATCH", "/v1/business", business.change, Session(permission=MANAGE_BUSINESS),
          "Change how the business trades, and its particulars on receipts", "Business updated"),
    Route("GET", "/v1/business/second-factor", second_factor.show_requirement, _MANAGES,
          "Read which roles need a second factor, and how many of their members have none",
          "Second factors by role"),
    Route("PUT", "/v1/business/second-factor", second_factor.change_requirement, _STEPPED_UP,
          "Set which roles need a second factor before anything else is open",
          "Second factors by role updated"),
    Route("GET", "/v1/members", members.list_all, _MANAGES,
          "List the people of the business, and those who are invited", "Members"),
    Route("POST", "/v1/members", members.invite, _STEPPED_UP,
          "Invite a person to the business", "Invitation: it is mailed where mails are set up",
          status=201, idempotent=True),
    Route("GET", "/v1/members/{user_id}", members.show, _MANAGES,
          "Read a member, or an invitation, with the API keys that the person made", "Member"),
    Route("PATCH", "/v1/members/{user_id}", members.change, _STEPPED_UP,
          "Give a member another role; a lower one ends their sessions", "Member updated"),
    Route("DELETE", "/v1/members/{user_id}", members.remove, _STEPPED_UP,
          "Remove a member, whose sessions end, or take an invitation back", "Member removed"),
    Route("POST", "/v1/members/{user_id}/end-sessions", members.end_sessions, _MANAGES,
          "End the sessions of a member", "Sessions ended", idempotent=True),
)  # fmt: skip
