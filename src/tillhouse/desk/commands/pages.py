"""The page of commands: the calls that another page made, as a shell takes them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tillhouse.desk.commands import trying
from tillhouse.desk.developers.keys.operations import MAKE, VIEW_SECRET
from tillhouse.desk.frame.places import LIST_KEYS
from tillhouse.desk.page import FormRefused, PageRequest, PageRoute, Shown

_CALLS_MAX = 12
# The scope of a call, empty where only a login will do, and its address.
_CALL = re.compile(r"([a-z_:]{0,60}) (/(?:v1|api)/[A-Za-z0-9/?=&%+._~-]{1,600})")


class Command(msgspec.Struct, frozen=True):
    """A call that reads, for a shell."""

    scope: str
    address: str

    def text(self, base: str, key: str) -> str:
        """The command, with where the API is and what key it is called with."""
        return f'curl -sS "{base}{self.address}" -H "Authorization: Bearer {key}"'


async def show(page: PageRequest) -> Shown:
    """The commands, without a key."""
    return _shown(page, _commands(page.request.query), "$KEY")


async def fill(page: PageRequest) -> Shown:
    """The commands with a key of the test book that may call them all, after the password."""
    commands = _commands(page.form)
    scopes = {command.scope for command in commands if command.scope}
    keys = await page.needed(LIST_KEYS)
    fit = [key for key in keys.data if _fits(key, scopes)]
    if not fit:
        return _shown(page, commands, "$KEY", missing=sorted(scopes))
    try:
        viewed = await page.act(VIEW_SECRET, fit[0]["id"])
    except FormRefused as refused:
        return msgspec.structs.replace(_shown(page, commands, "$KEY"), refusal=refused.problem)
    shown = _shown(page, commands, viewed.data["secret"], name=fit[0]["name"])
    return msgspec.structs.replace(shown, is_secret=True)


def _commands(fields: Mapping[str, str]) -> list[Command]:
    texts = [text for name, text in fields.items() if name.startswith("call.")]
    found = [_CALL.fullmatch(text) for text in texts[:_CALLS_MAX]]
    return [Command(match[1], match[2]) for match in found if match]


def _fits(key: dict[str, Any], scopes: set[str]) -> bool:
    """Whether a key of the test book works from anywhere, and may call all of it."""
    is_usable = key["status"] == "active" and key["environment"] == "test"
    return is_usable and not key["allowedIpRanges"] and scopes <= set(key["scopes"])


def _shown(
    page: PageRequest,
    commands: Sequence[Command],
    key: str,
    name: str | None = None,
    missing: Sequence[str] | None = None,
) -> Shown:
    base = page.services.settings.public_url
    facts: dict[str, Any] = {
        "commands": [(one, one.text(base, key)) for one in commands],
        "may_fill": page.may(VIEW_SECRET) and name is None,
        "key_name": name,
        "missing": missing,
        "may_make": page.may(MAKE),
    }
    return Shown("commands/commands.html", facts)


ROUTES = (
    PageRoute("GET", "/desk/commands", show),
    PageRoute("POST", "/desk/commands", fill),
    *trying.ROUTES,
)
