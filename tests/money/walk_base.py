"""The parts of walks that every kind of step needs."""

from collections import Counter
from datetime import timedelta
from typing import Any

from tests.api import Response
from tests.money.book_model import Book
from tests.money.desk import Desk
from tests.money.steps import HOURS, Step
from tests.money.watching import catch_up

REFUSED = (400, 404, 409, 422)


class WalkBase:
    """A book that things happen to, and the model of it."""

    def __init__(self, desk: Desk, reach: Counter[str]) -> None:
        self.desk = desk
        self.book = Book()
        self.reach = reach
        # The references of links, by which their pages are found.
        self.pages: dict[str, str] = {}

    async def catch_up(self) -> None:
        """Let the model follow what the book did by itself."""
        await catch_up(self.desk.sql, self.desk.book, self.book)

    async def work(self, step: Step) -> None:
        """Time goes by, and workers do what is due."""
        await self.desk.pass_time(timedelta(hours=HOURS[step.way % len(HOURS)]))
        await self.desk.work(self.catch_up, step.crash)

    def is_refused(self, answer: Response, *, is_refused: bool) -> bool:
        """Whether it was refused, which must be so exactly when the model refuses it."""
        assert answer.status in (REFUSED if is_refused else (200, 201)), answer
        self.reach["refused"] += is_refused
        return is_refused

    def pick(self, there: dict[str, Any], step: Step) -> str | None:
        """One of them, the newest first."""
        names = list(there)
        return names[-1 - step.which % len(names)] if names else None
