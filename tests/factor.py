"""A second factor as an application has it: its secret, and the codes that it shows."""

import base64
from datetime import timedelta

from tests.make import Business
from tillhouse.accounts.second_factor.rules import code_at
from tillhouse.kit.clock import now

FACTOR = "/api/auth/second-factor"


class Factor:
    """A factor that is on. Codes are given ahead of the clock: each counts once."""

    def __init__(self, secret: str, recovery: list[str]) -> None:
        self.secret = secret
        self.recovery = recovery

    @property
    def used(self) -> str:
        """The code of now, by which the factor was turned on."""
        return code(self.secret)

    @property
    def next(self) -> str:
        """The code of the next half minute, which counts already."""
        return code(self.secret, ahead=1)


def code(secret: str, ahead: int = 0) -> str:
    """The code of a secret, so many half minutes ahead."""
    return code_at(base64.b32decode(secret), now() + timedelta(seconds=30 * ahead))


def wrong(secret: str) -> str:
    """Six digits that are no code of this secret within minutes."""
    near = {code(secret, ahead) for ahead in range(-4, 5)}
    return next(text for text in (f"{number:06}" for number in range(20)) if text not in near)


async def turn_on(business: Business) -> Factor:
    """Turn the owner's factor on, through the API."""
    await business.step_up()
    begun = (await business.owner.post(FACTOR, status=201)).data
    body = {"code": code(begun["secret"])}
    told = (await business.owner.post(f"{FACTOR}/confirm", body, status=200)).data
    return Factor(begun["secret"], told["recoveryCodes"])
