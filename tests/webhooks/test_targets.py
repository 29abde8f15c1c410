"""The addresses that a webhook may be sent to: the public internet."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.webhooks.forbidden_hosts import (
    SPECIAL_4,
    SPECIAL_6,
    TRICKS,
    literals,
    transition_forms,
    urls,
    words,
)
from tests.webhooks.shop import Shop
from tillhouse.kit.targets import is_forbidden
from tillhouse.outgoing.rules import check_target, clean_url, host_of

PUBLIC = words(
    """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255
    192.169.0.0 198.17.255.255 198.20.0.0 198.41.0.4 198.51.99.255 203.0.112.255 203.0.114.0
    223.255.255.255 2001:200:: 2001:4860:4860::8888 2001:db7:: 2001:db9:: 2003:: 2606:4700::1111
    2620:4f:7fff:: 2620:4f:8001:: 2a00:1450:4009::200e 3ffe:: 64:ff9b::8.8.8.8 64:ff9b::c629:4
    ::ffff:8.8.8.8 ::ffff:101:101
    """
)

_TRANSITION = [IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")]
_NETWORKS = [ip_network(text) for text in (*SPECIAL_4, *SPECIAL_6, "64:ff9b::/96")]


def _is_refused(url: str) -> bool:
    """Whether saving refuses it when no name server knows its name."""
    try:
        host = host_of(clean_url(url))
    except ValueError:
        return True
    return check_target(host, [], []) is not None


def test_there_are_enough_spellings() -> None:
    """More than two hundred different ones."""
    assert len(set(urls())) > 250


def test_no_forbidden_host_can_be_saved() -> None:
    """In whatever spelling, with whatever port and path."""
    plain = [url for url in urls() if url not in TRICKS]
    tried = [
        *urls(),
        *(url.removesuffix("/") + ":8443/hook?a=b#c" for url in plain),
        *(url.replace("https://", "https://user@") for url in plain),
    ]
    assert [url for url in tried if not _is_refused(url)] == []


async def test_the_portal_refuses_them_by_name(quiet: Shop) -> None:
    """422, and the field is url; here the real resolver is asked for names."""
    hosts = [*literals()[::12], "localhost", "localhost.", "2130706433", "127.1", "ip6-localhost"]
    for host in hosts:
        refused = await quiet.endpoint(f"https://{host}/hook", status=422)
        assert [detail["field"] for detail in refused["details"]] == ["url"], host


def test_public_addresses_are_allowed() -> None:
    """Also beside the edges of special ranges, and wrapped where the wrapping is a mere form."""
    assert [text for text in PUBLIC if is_forbidden(ip_address(text))] == []
    hosts = [f"[{text}]" if ":" in text else text for text in PUBLIC]
    assert [host for host in hosts if _is_refused(f"https://{host}/")] == []


@pytest.mark.parametrize("inner", ["8.8.8.8", "198.41.0.4"])
def test_a_wrapped_public_address_is_allowed_where_it_is_reached(inner: str) -> None:
    """Mapped and NAT64 ones; tunnels to anywhere are not."""
    allowed = [text for text in transition_forms(inner) if not is_forbidden(ip_address(text))]
    assert {IPv6Address(text) for text in allowed} == {
        IPv6Address(f"::ffff:{inner}"), IPv6Address(f"64:ff9b::{inner}"),
    }  # fmt: skip


def test_what_a_setting_allows_is_allowed() -> None:
    """That, in its mapped form too, and nothing beside it."""
    allowed = [ip_network("127.0.0.1"), ip_network("fd00::/8")]
    for text in ("127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "fd12::1"):
        assert not is_forbidden(ip_address(text), allowed), text
    for text in ("127.0.0.2", "10.0.0.1", "::1", "fe80::1", "::127.0.0.1"):
        assert is_forbidden(ip_address(text), allowed), text
    assert check_target("127.0.0.1", [], allowed) is None
    assert check_target("a.example", [ip_address("127.0.0.1")], allowed) is None


def test_a_name_is_as_bad_as_its_worst_answer() -> None:
    """One private answer among public ones refuses the name."""
    public, private = ip_address("8.8.8.8"), ip_address("10.0.0.1")
    assert check_target("a.example", [public], []) is None
    assert check_target("a.example", [public, private], []) is not None
    assert check_target("a.example", [private, public], []) is not None


@given(
    st.one_of(
        st.ip_addresses(v=4),
        st.ip_addresses(v=6),
        st.sampled_from(_NETWORKS).flatmap(lambda network: st.ip_addresses(network=network)),
    )
)
@example(IPv4Address("192.0.0.9"))
@example(IPv6Address("2001:1::1"))
def test_whatever_python_calls_special_is_forbidden(address: IPv4Address | IPv6Address) -> None:
    """The standard library's flags are a subset of the table."""
    is_special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or (isinstance(address, IPv6Address) and address.is_site_local)
    )
    is_wrapped = any(address in network for network in _TRANSITION if address.version == 6)
    if is_wrapped:
        assert is_forbidden(address) == is_forbidden(IPv4Address(int(address) & 0xFFFFFFFF))
    elif is_special or not address.is_global:
        assert is_forbidden(address)
