"""The addresses that calls may go to: those of the public internet, and those of a setting.

A number's settings and whatever a telephone answers name addresses. Each is checked at the moment
that something would be sent there, so that a name whose answer changes gains nothing.
"""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

import msgspec

from tillhouse.kit.network import Network, parse_address
from tillhouse.kit.targets import is_forbidden


class ForbiddenAddress(OSError):
    """An address that nothing may be sent to; nothing was."""

    def __init__(self) -> None:
        super().__init__("a private, local or reserved address")


class Targets(msgspec.Struct, frozen=True):
    """The rule of one installation."""

    # Networks that are allowed although they are not public.
    allowed: Sequence[Network] = ()

    def may_be(self, host: str) -> bool:
        """Whether something may be sent to this address; never to a name, or with a zone."""
        try:
            address = parse_address(host)
        except ValueError:
            return False
        return not is_forbidden(address, self.allowed)

    def check(self, host: str) -> None:
        """Raise `ForbiddenAddress` where nothing may be sent."""
        if not self.may_be(host):
            raise ForbiddenAddress


PUBLIC = Targets()
# For calls that the operator of this machine makes by hand.
ANYWHERE = Targets((IPv4Network("0.0.0.0/0"), IPv6Network("::/0")))
