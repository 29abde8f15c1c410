"""Templates to bytes: every value escaped, every sentence from the catalogue."""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, cast

from jinja2 import PackageLoader, StrictUndefined, Template

from tillhouse.desk import assets
from tillhouse.desk.folding import FoldingEnvironment
from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.sentences import counted, fault, for_people, label, sentence
from tillhouse.desk.frame.words import money
from tillhouse.desk.operations import listed
from tillhouse.desk.page import PageRequest, Shown
from tillhouse.desk.session.carrying import carried
from tillhouse.desk.session.forms import CSRF, MADE_FOR, proof
from tillhouse.http.raw import HTML, RawAnswer
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Problem
from tillhouse.kit.ids import new_id

_KEPT_MAX = 512
TEMPLATES = FoldingEnvironment(
    loader=PackageLoader("tillhouse.desk", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    # A template changes with a release, never under a running process.
    auto_reload=False,
)
TEMPLATES.constants = {"t": sentence, "asset": assets.address}
TEMPLATES.macros = ("frame/macros.html", "m", frozenset({"icon", "mark"}))
cast("dict[str, Any]", TEMPLATES.globals).update(
    t=sentence,
    n=counted,
    asset=assets.address,
    money=money,
    new_key=new_id,
    commands=listed,
    label=label,
    for_people=for_people,
    # A macro that gives the same for the same words; none of them is anybody's own.
    kept=lru_cache(maxsize=_KEPT_MAX),
)
_POLICY = (
    b"default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; "
    b"form-action 'none'; frame-ancestors 'none'"
)


def render(page: PageRequest, shown: Shown, frame: Frame | None) -> bytes:
    """The page as it is sent."""
    context: dict[str, Any] = {
        "mode": page.mode if page.person else None,
        "theme": page.given.theme,
        "frame": frame,
        "person": page.person,
        "calls": page.calls,
        "form": page.form,
        "carried": partial(carried, page),
        "action": page.action,
        "query": page.request.query,
        "now": iso(page.request.now),
        "request_id": page.request.request_id,
        "refusal": shown.refusal,
        "faults": _by_field(shown.refusal),
        "hidden": _hidden(page),
        "live": page.live,
        "shown_for": page.shown_for if page.person else None,
        "has_keys": page.given.has_keys,
    }
    template, facts = TEMPLATES.get_template(shown.template), context | dict(shown.facts)
    if page.blocks:
        return _blocks(template, facts, page.blocks).encode()
    return template.render(facts).encode()


def blocks_of(template: str, names: Sequence[str]) -> list[str]:
    """Those of the names that are blocks of a template."""
    known = TEMPLATES.get_template(template).blocks
    return [name for name in names if name in known]


def _blocks(template: Template, facts: dict[str, Any], names: Sequence[str]) -> str:
    """These blocks, one after the other."""
    context = template.new_context(facts)
    # The imports of a template are there for its blocks once its first piece was rendered.
    next(iter(template.root_render_func(context)))
    return "".join(piece for name in names for piece in template.blocks[name](context))


def bare_refusal(message: str, request_id: str) -> RawAnswer:
    """The page of what can't be shown, where nothing is known of the person."""
    text = TEMPLATES.get_template("frame/bare.html").render(
        message=for_people(message), request_id=request_id, mode=None, theme=None, now="", calls=[],
        frame=None,
    )  # fmt: skip
    return RawAnswer(HTML, text.encode(), headers=[(b"content-security-policy", _POLICY)])


def _hidden(page: PageRequest) -> list[tuple[str, str]]:
    """The hidden fields of every form: its proof, and whom and which book it was made for."""
    if page.person is None:
        return []
    pepper = page.services.vault.pepper
    return [(CSRF, proof(pepper, page.person.session_id)), (MADE_FOR, page.made_for.text)]


def _by_field(refusal: Problem | None) -> dict[str, str]:
    """The faults, by the name of the field; of several sentences about one, the first."""
    details: Iterable[FieldError] = (refusal and refusal.details) or ()
    found: dict[str, str] = {}
    for detail in details:
        found.setdefault(detail.field, fault(detail.message))
    return found
