"""The recorded exchanges, as the examples of the document."""

from collections.abc import Iterator, Sequence
from typing import Any

Exchange = dict[str, Any]

# Of a list without pages, such as all scopes, so many rows from its middle are shown.
ROWS_SHOWN = 3


class RecordedWire:
    """The recorded requests and answers, by operation."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._by_operation: dict[str, list[Exchange]] = {}
        self._exchanges = exchanges
        for exchange in exchanges:
            self._by_operation.setdefault(exchange["operation"], []).append(exchange)

    def body(self, operation: str) -> Any:
        """The body of the first request that succeeded; {} where none was sent."""
        return next((e.get("body", {}) for e in self._successes(operation)), {})

    def names(self, operation: str) -> dict[str, str]:
        """The values in the path of the first request that succeeded."""
        return next((e.get("path", {}) for e in self._successes(operation)), {})

    def queries(self, operation: str) -> dict[str, Any]:
        """The first value of each query parameter in a request that succeeded."""
        found: dict[str, Any] = {}
        for exchange in self._successes(operation):
            found = {**exchange.get("query", {}), **found}
        return found

    def answer(self, operation: str, status: int) -> Any:
        """The first answer with this status, or None."""
        for exchange in self._by_operation.get(operation, []):
            if exchange["status"] == status and isinstance(exchange["answer"], dict):
                return _shortened(exchange["answer"])
        return None

    def refusal(self, status: int, code: str) -> Any:
        """An answer to any operation with this status and code, or None."""
        for exchange in self._exchanges:
            if exchange["status"] == status and exchange["answer"]["error"] == code:
                return exchange["answer"]
        return None

    def stream(self, operation: str) -> str | None:
        """The first piece of a stream, or None."""
        texts = (e["answer"] for e in self._successes(operation) if isinstance(e["answer"], str))
        return next(texts, None)

    def events(self) -> dict[str, Any]:
        """An event of each type that happened, as webhooks carry it."""
        found: dict[str, Any] = {}
        for exchange in self._exchanges:
            if exchange["operation"] == "GET /v1/events/stream":
                data = exchange["answer"]["data"] if isinstance(exchange["answer"], dict) else []
                found = {event["type"]: event for event in data} | found
        return found

    def _successes(self, operation: str) -> Iterator[Exchange]:
        return (e for e in self._by_operation.get(operation, []) if e["status"] < 300)


def _shortened(answer: dict[str, Any]) -> dict[str, Any]:
    data = answer.get("data")
    if isinstance(data, list) and "meta" not in answer:
        first = max(0, (len(data) - ROWS_SHOWN) // 2)
        return {**answer, "data": data[first : first + ROWS_SHOWN]}
    return answer
