"""A till whose every request and answer is told: a line each, short enough to read."""

import json
import re
import sys
import textwrap
from typing import Any

from tests.api import Response
from tests.make import PASSWORD
from tests.system.client import Client

WIDTH = 110
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SECRET = re.compile(r"(thsk_test_|mark=|until=)[\w-]+")
# The values that a body repeats.
_DULL = ("product_name", "modifier_group_id", "modifier_option_id")


def tell(mark: str, line: str) -> None:
    """A line of the transcript, folded where it is long."""
    folded = textwrap.fill(
        line,
        WIDTH,
        initial_indent=f"  {mark:10}",
        subsequent_indent=" " * 12,
        break_long_words=False,
        break_on_hyphens=False,
    )
    sys.stdout.write(folded + "\n")


def chapter(title: str) -> None:
    """The subject of the next lines."""
    sys.stdout.write(f"\n{title}\n")


class Till:
    """Somebody at the API; what has a name is told by it and not by its id."""

    def __init__(self, client: Client, names: dict[str, str] | None = None) -> None:
        self.client = client
        self._names = {} if names is None else names
        # The last request, which is printed once.
        self._brief = ""

    def as_bearer(self, token: str, **headers: str) -> "Till":
        """The same with a credential."""
        return Till(self.client.as_bearer(token, **headers), self._names)

    def named(self, name: str, thing: dict[str, Any]) -> str:
        """The id of a thing, which is told by this name from now on."""
        self._names[thing["id"]] = name
        return thing["id"]

    async def ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *shown: str,
        status: int = 200,
        key: str | None = None,
    ) -> Response:
        """The answer, which has this status; of it the fields are told that are named by path."""
        brief, self._brief = self._brief, _brief(body) if body else ""
        said = "the same again" if self._brief and self._brief == brief else self._brief
        keyed = f"(Idempotency-Key {key})" if key else ""
        tell("request", self._plain(" ".join(filter(None, (method, path, said, keyed)))))
        headers = {"idempotency-key": key} if key else None
        answer = await self.client.request(method, path, body, headers=headers)
        assert answer.status == status, answer
        is_replay = "idempotent-replayed" in answer.headers
        heard = _heard(answer.json, shown) + (" (Idempotent-Replayed)" if is_replay else "")
        tell("answer", self._plain(f"{status} {heard}"))
        return answer

    async def open(self, url: str) -> Response:
        """The page behind an address, without any credential."""
        assert url.startswith(self.client.address), url
        path = url.removeprefix(self.client.address)
        tell("request", self._plain(f"GET {path}"))
        answer = await Client(self.client.session, self.client.address).get(path, status=200)
        kind = answer.headers["content-type"]
        tell("answer", f"{answer.status} {kind}, {len(answer.body):,} bytes: {answer.body[:15]!r}")
        return answer

    def _plain(self, text: str) -> str:
        text = _SECRET.sub(r"\1…", text.replace(PASSWORD, "…"))
        return _ID.sub(lambda found: f"<{self._names.get(found[0], found[0][-6:])}>", text)


def _brief(value: Any) -> str:
    """A value as JSON without quotes and without what is dull."""
    match value:
        case dict():
            fields = [f"{name}: {_brief(one)}" for name, one in value.items() if name not in _DULL]
            return "{" + ", ".join(fields) + "}"
        case list():
            return "[" + ", ".join(_brief(one) for one in value) + "]"
        case str():
            return value
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return json.dumps(value)


def _heard(answer: dict[str, Any], shown: tuple[str, ...]) -> str:
    """The message of an answer, and those of its fields that are shown; of a list, each row's."""
    if "error" in answer:
        return f"{answer['error']}: {answer['message']}"
    beside = [path for path in shown if path.startswith(("meta.", "summary."))]
    inside = [path for path in shown if path not in beside]
    rows = answer["data"] if isinstance(answer["data"], list) else [answer["data"]]
    told = [_picked(row, inside) for row in rows if inside]
    told += [_picked(answer, beside)] if beside else []
    return " ".join((answer["message"], *(told if rows else ["none"])))


def _picked(row: dict[str, Any], paths: list[str]) -> str:
    return _brief({path.rpartition(".")[2]: _at(row, path) for path in paths})


def _at(row: dict[str, Any], path: str) -> Any:
    first, _, rest = path.partition(".")
    return _at(row[first], rest) if rest else row[first]
