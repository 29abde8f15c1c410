"""Addresses and origins: who a request comes from, and whether a key's lists let it in."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import NamedTuple

# No request passes more proxies than that; to read thousands of addresses takes a while.
HOPS_MAX = 32

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_MAPPED = IPv6Network("::ffff:0:0/96")
_NETWORK = re.compile(r"[0-9A-Fa-f:.]{2,45}(?:/[0-9]{1,3})?")
_NETWORK_MESSAGE = "must be an IP address or a range such as 203.0.113.7 or 10.0.0.0/8"
_HOP = re.compile(r"\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?|([0-9.]{7,15}):[0-9]{1,5}")

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_ORIGIN = re.compile(
    r"(?:(?P<scheme>https?)://)?"
    rf"(?P<host>(?:\*\.)?{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]{{2,45}}\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_ORIGIN_LENGTH_MAX = 300
_DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Read CIDR ranges and single addresses, or raise ValueError that says how to mend one."""
    return tuple(_parse_network(text.strip()) for text in texts)


@lru_cache(maxsize=4096)
def parse_address(text: str) -> Address:
    """Read an address, an IPv4 one inside IPv6 as IPv4, or raise ValueError."""
    if "%" in text:
        raise ValueError("must be an address without a zone (the part from % on)")
    try:
        address = ip_address(text)
    except ValueError:
        raise ValueError("must be an IP address such as 203.0.113.7") from None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def literal_of(host: str) -> Address | None:
    """The address that a host spells out; None for a name."""
    try:
        return parse_address(host)
    except ValueError:
        return None


def is_loopback(text: str) -> bool:
    """Whether an address is of this machine."""
    address = literal_of(text)
    return address is not None and address.is_loopback


def contains(networks: Iterable[Network], address: Address) -> bool:
    """Tell whether an address is in one of the networks."""
    return any(address in network for network in networks)


def covers(networks: Iterable[Network], inner: Network) -> bool:
    """Tell whether all of a network is in one of the others."""
    first = inner.network_address
    return any(first in network and inner.prefixlen >= network.prefixlen for network in networks)


def client_address(
    peer: str, forwarded_for: Iterable[str], trusted: Sequence[Network]
) -> Address | None:
    """Find the address that a request really comes from; None when it can't be known.

    Only the entries of trusted proxies are believed. Each appends the address that it sees, so the
    right-most hop that is no trusted proxy is the client, and all left of it is hearsay.
    """
    try:
        # A zone is the kernel's own addition here, for a link-local peer.
        client = parse_address(peer.partition("%")[0])
        if not contains(trusted, client):
            return client
        hops = [hop for value in forwarded_for for hop in value.split(",")]
        for hop in reversed(hops[-HOPS_MAX:]):
            client = _parse_hop(hop.strip())
            if not contains(trusted, client):
                return client
    except ValueError:
        # An unreadable hop is no reason to believe the one before it.
        return None
    return client if len(hops) <= HOPS_MAX else None


def clean_origin(entry: str) -> str:
    """Normalise an entry of a list of allowed origins, or raise ValueError.

    `shop.example.com` allows every scheme and port, `shop.example.com:8443` that port,
    `https://shop.example.com` that origin only; `*.example.com` allows every name below.
    """
    parsed = _parse_origin(entry.strip().removesuffix("/"))
    if parsed is None:
        raise ValueError(
            "must be a hostname such as shop.example.com, *.example.com or "
            "https://shop.example.com (names with other letters as xn--…)"
        )
    if parsed.host.startswith("*.") and parsed.host.count(".") < 2:
        raise ValueError("must name a domain after the star, such as *.example.com")
    scheme = f"{parsed.scheme}://" if parsed.scheme else ""
    is_default = parsed.scheme is not None and parsed.port == _DEFAULT_PORTS[parsed.scheme]
    port = "" if parsed.port is None or is_default else f":{parsed.port}"
    return f"{scheme}{parsed.host}{port}"


def origin_allowed(origin: str, entries: Iterable[str]) -> bool:
    """Tell whether an Origin header matches one of the entries that `clean_origin` made."""
    asked = _parse_origin(origin)
    if asked is None or asked.scheme is None or asked.host.startswith("*"):
        return False
    allowed = (_parse_origin(entry) for entry in entries)
    return any(entry is not None and _matches(asked, entry) for entry in allowed)


class _Origin(NamedTuple):
    """A scheme, host and port; a scheme brings its default port."""

    scheme: str | None
    host: str
    port: int | None


def _parse_origin(text: str) -> _Origin | None:
    if len(text) > _ORIGIN_LENGTH_MAX or not text.isascii():
        return None
    match = _ORIGIN.fullmatch(text.lower())
    # A browser sends "null" for an origin that it won't tell.
    if match is None or text == "null":
        return None
    scheme, host, port_text = match["scheme"], match["host"], match["port"]
    port = int(port_text) if port_text else _DEFAULT_PORTS.get(scheme or "")
    if port is not None and not 1 <= port <= 65535:
        return None
    if host.startswith("["):
        try:
            host = f"[{IPv6Address(host[1:-1])}]"
        except ValueError:
            return None
    return _Origin(scheme, host, port)


def _matches(asked: _Origin, entry: _Origin) -> bool:
    if entry.scheme not in (None, asked.scheme) or entry.port not in (None, asked.port):
        return False
    if entry.host.startswith("*."):
        return asked.host.endswith(entry.host[1:])
    return asked.host == entry.host


def _parse_hop(text: str) -> Address:
    match = _HOP.fullmatch(text)
    return parse_address(text if match is None else match[1] or match[2])


def _parse_network(text: str) -> Network:
    # Masks written as addresses are refused: 0.0.0.255 would be taken for a host mask.
    if _NETWORK.fullmatch(text) is None:
        raise ValueError(_NETWORK_MESSAGE)
    try:
        interface = ip_interface(text)
    except ValueError:
        raise ValueError(_NETWORK_MESSAGE) from None
    network = interface.network
    if interface.ip != network.network_address:
        raise ValueError(
            f"{text} has bits beyond its mask: write {network}, or {interface.ip} alone"
        )
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        inner = IPv4Address(int(network.network_address) & 0xFFFF_FFFF)
        return ip_network(f"{inner}/{network.prefixlen - 96}")
    return network
