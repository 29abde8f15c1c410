"""The result in the address of a redirect: set by parsing, everything else as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.checkout.redirect_rules import clean_redirect, with_result

_BOTH = "payment_status=successful&payment_reference=pl_1"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example", f"https://a.example?{_BOTH}"),
        ("https://a.example/x?b=2&a=1", f"https://a.example/x?b=2&a=1&{_BOTH}"),
        ("https://a.example/x#end", f"https://a.example/x?{_BOTH}#end"),
        ("https://a.example/?q=%2F+x&&z#a?b=1", f"https://a.example/?q=%2F+x&&z&{_BOTH}#a?b=1"),
        (
            "https://a.example/?payment_status=successful&x=1&payment_reference=pl_9",
            "https://a.example/?payment_status=successful&x=1&payment_reference=pl_1",
        ),
        (
            "https://a.example/?payment_status=failed&payment_status=expired&x=1",
            "https://a.example/?payment_status=successful&x=1&payment_reference=pl_1",
        ),
        ("https://a.example/?payment%5Fstatus=failed", f"https://a.example/?{_BOTH}"),
        ("https://a.example/?Payment_Status[]=failed", f"https://a.example/?{_BOTH}"),
        ("https://a.example/?payment.status=failed", f"https://a.example/?{_BOTH}"),
    ],
)
def test_both_parameters_are_set(url: str, expected: str) -> None:
    """A seeded one is overwritten, however it is spelt."""
    assert with_result(url, "successful", "pl_1") == expected


_WORDS = st.text("abz019-._~%+=", max_size=8)


@given(st.lists(_WORDS, max_size=5), st.one_of(st.none(), _WORDS))
def test_the_rest_stays_byte_by_byte(parts: list[str], fragment: str | None) -> None:
    """Other parameters keep order and spelling, and the fragment stays at the end."""
    query = "&".join(parts)
    tail = "" if fragment is None else "#" + fragment
    url = "https://a.example/x" + (f"?{query}" if parts else "") + tail
    made = with_result(url, "successful", "pl_1")
    before = f"{query}&" if query else ""
    assert made == f"https://a.example/x?{before}{_BOTH}{tail}"
    assert with_result(made, "successful", "pl_1") == made


@pytest.mark.parametrize("url", ["https://a.example", "HTTP://A.example:81/x?y#z", "http://[::1]/"])
def test_a_web_address_is_kept_as_it_is(url: str) -> None:
    """Nothing of it is rewritten."""
    assert clean_redirect(url) == url


@pytest.mark.parametrize(
    "url", ["https://a;sandbox;[::1]/", "https://[::1];sandbox/", "https://host:/x", "https://a:0/"]
)
def test_a_host_is_nothing_but_a_host(url: str) -> None:
    """It becomes a part of a header, where anything else would be a word of its own."""
    with pytest.raises(ValueError, match="host and port"):
        clean_redirect(url)
