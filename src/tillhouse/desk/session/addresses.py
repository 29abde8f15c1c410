"""Addresses to go on to, and names of browsers: pure readings of what a client sends."""

import re

# Of a new business.
BEGIN = "/desk/begin"
START = "/desk"
_OWN = re.compile(r"/desk(?:[/?][!-~]{0,2000})?")
_BROWSERS = (
    ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("SamsungBrowser/", "Samsung"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
_SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def own_address(text: str | None) -> str:
    """The page to go on to after signing in: one of the desk, never another site."""
    is_own = text is not None and _OWN.fullmatch(text) and "\\" not in text and "//" not in text
    return text if is_own and text is not None else START


def device(user_agent: str | None) -> str:
    """A short name of a browser, such as "Firefox on Linux", from what it says of itself."""
    said = (user_agent or "")[:1000]
    browser = next((name for sign, name in _BROWSERS if sign in said), None)
    system = next((name for sign, name in _SYSTEMS if sign in said), None)
    return " on ".join(filter(None, (browser, system))) or "Unknown browser"
