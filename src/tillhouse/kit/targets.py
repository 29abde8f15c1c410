"""The addresses that a business may have us dial: those of the public internet, no others.

The tables follow IANA's special-purpose registries (IPv4 and IPv6). Python's `is_global` is
not enough: it lets transition addresses through that carry a private IPv4 address inside.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from tillhouse.kit.network import Address, Network, contains

_FORBIDDEN_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

# Everything outside 2000::/3 is special; these parts of it are, too.
_GLOBAL_6 = IPv6Network("2000::/3")
_FORBIDDEN_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, deprecated: its routers reach whatever is inside
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_LAST_32 = 0xFFFFFFFF
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_forbidden(address: Address, allowed: Sequence[Network] = ()) -> bool:
    """Whether nothing of a business may go there; `allowed` are the networks of a setting."""
    if contains(allowed, address):
        return False
    if isinstance(address, IPv4Address):
        return contains(_FORBIDDEN_4, address)
    inner = _inner(address)
    if inner is not None:
        return is_forbidden(inner, allowed)
    return address not in _GLOBAL_6 or contains(_FORBIDDEN_6, address) or _is_isatap(address)


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that is reached in truth, where the form is a mere wrapping."""
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(int(address) & _LAST_32)
    return None


def _is_isatap(address: IPv6Address) -> bool:
    """Interface ids that tunnel to the IPv4 address inside them."""
    return (int(address) >> 32) & _LAST_32 in _ISATAP
