"""Lives through the story of the examples with the real API, and compares every answer."""

import json
import re
from typing import Any

from tests.api import Api, Response
from tests.routes.table import DOCUMENT, examples

_PATTERNS = {
    "id": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    "code": re.compile(r"[2-9A-HJ-NP-Z]{8}"),
    "address": re.compile(r"https?://[\w.:-]+/receipts/[\w-]+\?until=\d+&mark=[\w-]+"),
}
# How long something takes is no part of a story.
_PASSING = {"secondsInStage"}


class Story:
    """A business that does what the examples say; ids of the story stand for real ones."""

    def __init__(self, api: Api, known: dict[str, str]) -> None:
        self._api = api
        # Of the story → real.
        self.known = known

    async def does(self, operation: str) -> Response:
        """Send an operation's example, and hear what its example says."""
        method, path = operation.split()
        described = DOCUMENT["paths"][path][method.lower()]
        body = None
        if "requestBody" in described:
            [body] = examples(described["requestBody"]["content"]["application/json"])
        [status] = {s for s in described["responses"] if s[0] == "2"} - {"200"} or {"200"}
        [example] = examples(described["responses"][status]["content"]["application/json"])
        for parameter in described["parameters"]:
            if parameter["in"] == "path":
                id_ = parameter["schema"]["examples"][0]
                path = path.replace(f"{{{parameter['name']}}}", id_)
        answer = await self.sends(method, path, body, int(status))
        self.hears(operation, example, answer.json)
        return answer

    async def sends(self, method: str, path: str, body: Any, status: int) -> Response:
        """Send something of the story, about the real things."""
        body = body and json.loads(self._real(json.dumps(body)))
        return await self._api.request(method, self._real(path), body, status=status)

    def hears(self, where: str, told: Any, real: Any) -> None:
        """The answer is the story's, but for ids, codes and times, which always mean the same."""
        wrong = list(self._differences(told, real, where))
        assert not wrong, "\n".join(wrong)

    def _real(self, text: str) -> str:
        for told, real in self.known.items():
            text = text.replace(told, real)
        return text

    def _differences(self, told: Any, real: Any, where: str) -> list[str]:
        match told, real:
            case dict(), dict():
                found = [f"{where}: {sorted(told.keys() ^ real.keys())}"]
                return found * (told.keys() != real.keys()) + [
                    wrong
                    for name in told.keys() & real.keys() - _PASSING
                    for wrong in self._differences(told[name], real[name], f"{where}.{name}")
                ]
            case list(), list() if len(told) == len(real):
                pairs = enumerate(zip(told, real, strict=True))
                return [w for i, pair in pairs for w in self._differences(*pair, f"{where}[{i}]")]
            case str(), str() if self._is_same(told, real):
                return []
            case _:
                return [] if told == real else [f"{where}: {told!r} is told, {real!r} came"]

    def _is_same(self, told: str, real: str) -> bool:
        for kind, pattern in _PATTERNS.items():
            if pattern.fullmatch(told) and pattern.fullmatch(real):
                return kind in ("time", "address") or self._stands_for(told, real)
        return self._real(told) == real

    def _stands_for(self, told: str, real: str) -> bool:
        if told not in self.known and real not in self.known.values():
            self.known[told] = real
        return self.known.get(told) == real
