"""The routes of people: /api/auth."""

from tillhouse.accounts import actions
from tillhouse.http.route import Open, Route, Session

ROUTES: tuple[Route, ...] = (
    Route("POST", "/api/auth/register", actions.register, Open(),
          "Register a business and its owner", "Business registered",
          status=201),
    Route("POST", "/api/auth/login", actions.log_in, Open(), "Log in", "Logged in"),
    Route("POST", "/api/auth/refresh", actions.refresh, Open(),
          "Exchange a refresh token for new tokens", "Session continued"),
    Route("POST", "/api/auth/logout", actions.log_out, Session(), "Log out", "Logged out"),
    Route("POST", "/api/auth/verify-password", actions.verify_password, Session(),
          "Verify the password again (step-up)", "Password verified", has_own_queue=True),
    Route("POST", "/api/auth/change-password", actions.change_password, Session(),
          "Change your password; all your other sessions end", "Password changed",
          has_own_queue=True),
    Route("GET", "/api/auth/sessions", actions.list_sessions, Session(),
          "List your sessions", "Sessions"),
    Route("POST", "/api/auth/sessions/end-others", actions.end_other_sessions, Session(),
          "End all your other sessions", "Other sessions ended"),
    Route("DELETE", "/api/auth/sessions/{login_session_id}", actions.end_session, Session(),
          "End one of your sessions", "Session ended"),
    Route("POST", "/api/auth/switch", actions.switch, Session(),
          "Switch to another of your businesses", "Business switched"),
    Route("GET", "/api/auth/me", actions.me, Session(),
          "Read who is logged in", "You are logged in"),
)  # fmt: skip
