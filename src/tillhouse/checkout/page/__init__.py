"""The page of a link, as bytes: complete without scripts, and all of it from this server."""

import hashlib
from datetime import datetime
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from tillhouse.checkout.page_rules import LinkPage, Trouble, grouped, shown
from tillhouse.checkout.redirect_rules import origin_of
from tillhouse.http.problems import Headers
from tillhouse.http.raw import HTML, RawAnswer
from tillhouse.kit.clock import iso

CASES = (
    ("exact", "Exact"), ("under", "Half of it"), ("over", "Half more"), ("late", "Too late"),
    ("twice", "Twice"), ("failed", "Fails"), ("reversed", "Taken back"),
    ("disputed", "Disputed"), ("dispute_won", "Dispute won"), ("dispute_lost", "Dispute lost"),
)  # fmt: skip

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FILES = {
    item.name: item.read_bytes()
    for item in files("tillhouse.checkout.page").iterdir()
    if item.name.rpartition(".")[2] in _TYPES
}
_DIGEST = hashlib.sha256(b"".join(_FILES[name] for name in sorted(_FILES))).hexdigest()[:12]
ASSETS = "/pay/assets/" + _DIGEST
_ENVIRONMENT = Environment(
    loader=PackageLoader("tillhouse.checkout", "page"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_POLICY = (
    "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'; "
    "form-action 'self'"
)


def asset(name: str) -> RawAnswer | None:
    """A file of the page; its address changes with its content."""
    body = _FILES.get(name)
    if body is None:
        return None
    headers: Headers = [
        (b"cache-control", b"public, max-age=31536000, immutable"),
        (b"cross-origin-resource-policy", b"same-origin"),
    ]
    return RawAnswer(_TYPES[name.rpartition(".")[2]], body, headers=headers)


def payment_page(
    page: LinkPage,
    now: datetime,
    *,
    trouble: Trouble | None = None,
    has_left: bool = False,
    is_wrong_email: bool = False,
) -> RawAnswer:
    """The page of a link as it stands."""
    words = shown(page, now, has_left=has_left)
    text = _ENVIRONMENT.get_template("pay.html").render(
        page=page,
        shown=words,
        title=words.title,
        is_waiting=words.state == "waiting",
        now=iso(now),
        base=f"/pay/{page.reference}",
        assets=ASSETS,
        is_test=page.environment == "test",
        has_account=page.has_account(now),
        number=grouped(page.account_number or "").split(),
        trouble=trouble or Trouble(),
        is_wrong_email=is_wrong_email,
        cases=CASES,
    )
    # A form's answer may lead on to the shop: browsers ask whether it may.
    more = f" {origin_of(page.redirect_url)}" if page.redirect_url else ""
    return RawAnswer(HTML, text.encode(), headers=_headers(_POLICY + more))


def refusal(message: str, request_id: str) -> RawAnswer:
    """The page of a refusal."""
    text = _ENVIRONMENT.get_template("refusal.html").render(
        message=message, request_id=request_id, assets=ASSETS
    )
    return RawAnswer(HTML, text.encode(), headers=_headers(_POLICY))


def see_other(location: str) -> RawAnswer:
    """The way on to another page."""
    headers: Headers = [(b"location", location.encode("ascii")), *_headers(_POLICY)]
    return RawAnswer("text/plain; charset=utf-8", b"", 303, headers=headers)


def _headers(policy: str) -> Headers:
    return [(b"content-security-policy", policy.encode("ascii")), (b"x-robots-tag", b"noindex")]
