"""The words for money that moves for a row of a closed period. Pure decisions."""

from datetime import date
from typing import Literal

Booked = Literal["today", "on the day on which it goes back"]


def booked(closed_on: date, when: Booked = "today") -> str:
    """The sentence beside an answer: up to which day the books are closed, when it is booked."""
    return f"The books are closed until {closed_on.isoformat()}, so it is booked {when}."
