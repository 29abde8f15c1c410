"""The routes of people: /api/auth."""

from tillhouse.access.call import AnonymousCall, Call
from tillhouse.accounts import actions
from tillhouse.accounts.types import (
    AccessToken,
    BusinessChoice,
    Credentials,
    Ended,
    Me,
    NewAccount,
    PasswordProof,
    RefreshToken,
    Tokens,
    Verified,
)
from tillhouse.http.route import Open, Reply, Route, Session


async def register(call: AnonymousCall, body: NewAccount) -> Reply[Tokens]:
    """Register a business and its owner."""
    return Reply("Business registered", await actions.register(call, body))


async def log_in(call: AnonymousCall, body: Credentials) -> Reply[Tokens]:
    """Log in."""
    return Reply("Logged in", await actions.log_in(call, body))


async def refresh(call: AnonymousCall, body: RefreshToken) -> Reply[Tokens]:
    """Exchange a refresh token for new tokens."""
    return Reply("Session continued", await actions.refresh(call, body.refresh_token))


async def log_out(call: Call) -> Reply[Ended]:
    """Log out."""
    return Reply("Logged out", await actions.log_out(call))


async def verify_password(call: Call, body: PasswordProof) -> Reply[Verified]:
    """Verify the password again (step-up)."""
    return Reply("Password verified", await actions.verify_password(call, body.password))


async def switch(call: Call, body: BusinessChoice) -> Reply[AccessToken]:
    """Switch to another of your businesses."""
    return Reply("Business switched", await actions.switch(call, body))


async def me(call: Call) -> Reply[Me]:
    """Read who is logged in."""
    return Reply("You are logged in", await actions.me(call))


ROUTES = (
    Route("POST", "/api/auth/register", register, Open(), status=201),
    Route("POST", "/api/auth/login", log_in, Open()),
    Route("POST", "/api/auth/refresh", refresh, Open()),
    Route("POST", "/api/auth/logout", log_out, Session()),
    Route("POST", "/api/auth/verify-password", verify_password, Session()),
    Route("POST", "/api/auth/switch", switch, Session()),
    Route("GET", "/api/auth/me", me, Session()),
)
