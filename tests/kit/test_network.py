"""Addresses and origins: nobody is let in by what they say about themselves."""

import contextlib
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.network import (
    HOPS_MAX,
    clean_origin,
    client_address,
    contains,
    origin_allowed,
    parse_address,
    parse_networks,
)

PROXIES = parse_networks(["10.0.0.0/8", "fd00::/8"])
PROXY_HOPS = st.sampled_from(["10.0.0.1", "10.9.9.9:1234", "fd00::1", "[fd00::2]:80"])
CLIENTS = st.ip_addresses().filter(
    lambda one: not contains(PROXIES, parse_address(str(one).partition("%")[0]))
)
ANYTHING = st.text(max_size=30) | PROXY_HOPS | st.ip_addresses().map(str)


@given(
    claims=st.lists(ANYTHING, max_size=4),
    client=CLIENTS,
    hops=st.lists(PROXY_HOPS, max_size=3),
    is_split=st.booleans(),
)
def test_what_a_client_claims_changes_nothing(
    claims: list[str], client: IPv4Address | IPv6Address, hops: list[str], *, is_split: bool
) -> None:
    """The address that our own outermost proxy saw is the answer, whatever stands left of it."""
    written = [*claims, str(client), *hops]
    headers = written if is_split else [", ".join(written)]
    assert client_address("10.1.1.1", headers, PROXIES) == parse_address(str(client))


@given(CLIENTS, st.lists(ANYTHING, max_size=4))
def test_a_stranger_speaks_only_for_itself(
    peer: IPv4Address | IPv6Address, claims: list[str]
) -> None:
    """A header from a peer that is no proxy isn't read."""
    assert client_address(str(peer), claims, PROXIES) == parse_address(str(peer))
    assert client_address(str(peer), claims, ()) == parse_address(str(peer))


@given(st.text(max_size=20), st.lists(ANYTHING, max_size=4), st.lists(ANYTHING, max_size=4))
def test_no_header_makes_reading_fail(peer: str, left: list[str], right: list[str]) -> None:
    """Garbage gives no address, and no error."""
    client_address(peer, left, PROXIES)
    client_address("10.0.0.1", [",".join(left), ",".join(right)], PROXIES)


@pytest.mark.parametrize(
    "hop", ["unknown", "", "1.2.3", "_hidden", "::1%eth0", "1.2.3.4:x", "[::1"]
)
def test_an_unreadable_hop_hides_the_client(hop: str) -> None:
    """Entries to its left can't be believed, so none is."""
    assert client_address("10.0.0.1", [f"203.0.113.7, {hop}"], PROXIES) is None
    assert client_address("10.0.0.1", [f"{hop}, 203.0.113.7"], PROXIES) is not None
    assert client_address(hop, [], PROXIES) in (None, ip_address("::1"))


def test_a_crowd_of_hops_is_not_read() -> None:
    """A caller may write thousands of proxies of ours into one header."""
    hop = "10.0.0.2"
    assert client_address("10.0.0.1", [", ".join([hop] * HOPS_MAX)], PROXIES) == ip_address(hop)
    assert client_address("10.0.0.1", [", ".join([hop] * (HOPS_MAX + 1))], PROXIES) is None
    beyond = ", ".join(["1.2.3.4", *[hop] * 8000])
    assert client_address("10.0.0.1", [beyond], PROXIES) is None


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("::ffff:10.0.0.1", ["1.2.3.4:555"], "1.2.3.4"),
        ("10.0.0.1", ["[2001:db8::1]:80"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]", "::ffff:10.0.0.9"], "2001:db8::1"),
        ("fe80::1%eth0", ["1.2.3.4"], "fe80::1"),
    ],
)
def test_the_ways_proxies_write_addresses_are_read(
    peer: str, headers: list[str], client: str
) -> None:
    """Ports, brackets, several headers, IPv4 inside IPv6."""
    assert client_address(peer, headers, PROXIES) == ip_address(client)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_inside_ipv6(address: IPv4Address) -> None:
    """Otherwise a list of IPv4 ranges would miss half of its clients."""
    assert parse_address(f"::ffff:{address}") == parse_address(str(address)) == address
    assert contains(parse_networks([f"::ffff:{address}/128"]), address)
    assert contains(parse_networks([str(address)]), parse_address(f"::ffff:{address}"))


def test_ranges_and_single_addresses_are_read() -> None:
    """A single address is a range of one."""
    networks = parse_networks(
        [" 10.0.0.0/8", "203.0.113.7", "2001:DB8::/32", "::ffff:192.0.2.0/120"]
    )
    assert networks == tuple(
        map(ip_network, ["10.0.0.0/8", "203.0.113.7/32", "2001:db8::/32", "192.0.2.0/24"])
    )
    assert contains(networks, ip_address("203.0.113.7"))
    assert not contains(networks, ip_address("203.0.113.8"))
    assert not contains(parse_networks(["0.0.0.0/0"]), ip_address("::1"))


def test_a_range_with_host_bits_is_sent_back_with_both_readings() -> None:
    """Guessing would let in too many or too few."""
    with pytest.raises(ValueError, match=r"write 10\.0\.0\.0/8, or 10\.0\.0\.1 alone"):
        parse_networks(["10.0.0.1/8"])


@given(st.text(max_size=50))
def test_any_other_text_is_a_value_error(text: str) -> None:
    """Parsing fails in one way only."""
    with contextlib.suppress(ValueError):
        parse_address(text)
    with contextlib.suppress(ValueError):
        parse_networks([text])
    with contextlib.suppress(ValueError):
        clean_origin(text)


@pytest.mark.parametrize(
    "text",
    ["", "10.0.0.0/33", "10.0.0.0/0.0.0.255", "10.0.0.0/255.0.0.0", "10.0.0/8", "010.0.0.0/8",
     "fe80::1%eth0", "example.com", "10.0.0.0/-1", "10.0.0.0/8/8"],
)  # fmt: skip
def test_what_is_no_range_is_refused(text: str) -> None:
    """Only addresses and prefix lengths."""
    with pytest.raises(ValueError, match="must be an IP address or a range"):
        parse_networks([text])


@pytest.mark.parametrize(
    ("entry", "cleaned"),
    [
        (" Shop.Example.com ", "shop.example.com"),
        ("*.Example.com", "*.example.com"),
        ("https://shop.example.com/", "https://shop.example.com"),
        ("https://shop.example.com:443", "https://shop.example.com"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("shop.example.com:8443", "shop.example.com:8443"),
        ("http://[::0:1]:80", "http://[::1]"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_an_entry_is_kept_in_one_form(entry: str, cleaned: str) -> None:
    """And that form is its own."""
    assert clean_origin(entry) == cleaned
    assert clean_origin(cleaned) == cleaned


@pytest.mark.parametrize(
    "entry",
    ["", "*", "null", "*.com", "shop.*.com", "https://shop.example.com/path", "ftp://example.com",
     "user@example.com", "example..com", "b\u00fccher.example", "example.com:0",
     "example.com:65536", "https://", "[::x]", "[1:2]", "a b.com", "-a.com", "x" * 301,
     "example.com\n.evil.com"],
)  # fmt: skip
def test_what_is_no_origin_is_refused(entry: str) -> None:
    """A star for everything, paths, other schemes."""
    with pytest.raises(ValueError, match="must"):
        clean_origin(entry)


@pytest.mark.parametrize(
    ("origin", "entry", "is_allowed"),
    [
        ("https://shop.example.com", "shop.example.com", True),
        ("http://SHOP.example.com:8080", "shop.example.com", True),
        ("https://shop.example.com", "https://shop.example.com", True),
        ("https://shop.example.com:443", "https://shop.example.com", True),
        ("http://shop.example.com", "https://shop.example.com", False),
        ("https://shop.example.com:8443", "https://shop.example.com", False),
        ("https://shop.example.com", "shop.example.com:8443", False),
        ("https://a.b.example.com", "*.example.com", True),
        ("https://example.com", "*.example.com", False),
        ("https://evilexample.com", "*.example.com", False),
        ("https://shop.example.com.evil.com", "shop.example.com", False),
        ("https://evil.com/shop.example.com", "shop.example.com", False),
        ("https://shop.example.com@evil.com", "shop.example.com", False),
        ("https://*.example.com", "*.example.com", False),
        ("shop.example.com", "shop.example.com", False),
        ("null", "null", False),
        ("", "shop.example.com", False),
    ],
)
def test_an_origin_is_allowed_by_whole_names_only(
    origin: str, entry: str, *, is_allowed: bool
) -> None:
    """A name that merely looks alike stays outside."""
    assert origin_allowed(origin, ["other.example", entry]) is is_allowed
    assert not origin_allowed(origin, [])


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_origin_makes_matching_fail(origin: str, entry: str) -> None:
    """Garbage is allowed nowhere."""
    assert not origin_allowed(origin, [entry])
