"""Which addresses an endpoint may have, as far as the portal can tell."""

from tests.webhooks.shop import ENDPOINTS, Shop

# Form: HTTPS, a host, a port of 1 to 65535, no credentials, plain ASCII, not too long.
MALFORMED = [
    "", "https", "https:", "https:/", "https://", "https:///hook", "https:198.41.0.4/hook",
    "http://198.41.0.4/", "HTTP://198.41.0.4/", "ftp://198.41.0.4/", "wss://198.41.0.4/",
    "file:///etc/passwd", "javascript:alert(1)", "//198.41.0.4/", "198.41.0.4/hook", "/hook",
    "https://user:pass@198.41.0.4/", "https://user@198.41.0.4/", "https://:@198.41.0.4/",
    "https://@198.41.0.4/", "https://user:p%40ss@198.41.0.4/", "https://198.41.0.4@127.0.0.1/",
    "https://198.41.0.4:0/", "https://198.41.0.4:65536/", "https://198.41.0.4:http/",
    "https://198.41.0.4:-1/", "https://198.41.0.4:4 43/", "https://198.41.0.4/a b",
    " https://198.41.0.4/", "https://198.41.0.4/ ", "https://198.41.0.4/\t",
    "https://198.41.0.4/\n",
    "https://198.41.0.4/\r\nHost: a", "https://198.41.0.4/\\..", "https:\\\\198.41.0.4\\hook",
    "https://198.41.0.4\\@127.0.0.1/", "https://bücher.example/", "https://198.41.0.4/é",
    "https://\uff11\uff19\uff18.41.0.4/", "https://198\u300241\u30020\u30024/",
    "https://198.41.0.4/\u202e", "https://a_b..c/",
    "https://.example.com/", "https://-a.example.com/", "https://a-.example.com/",
    "https://exa$mple.com/", "https://exam%70le.com/", "https://" + "a" * 64 + ".example.com/",
    "https://" + ".".join(["a" * 50] * 6) + "/", "https://[198.41.0.4]/", "https://[::1/",
    "https://::1/", "https://[]/", "https://[v1.fe80]/", "https://a[::1]/", "https://[::1]a/",
    "https://198.41.0.4/" + "a" * 2030, 'https://198.41.0.4/"', "https://198.41.0.4/<a>",
    "https://198.41.0.4/{id}", "https://198.41.0.4/a|b", "https://198.41.0.4/`",
    "https://1.1.1.1^/",
]  # fmt: skip

KEPT = {
    "https://198.41.0.4/hook": "https://198.41.0.4/hook",
    "HTTPS://198.41.0.4/Hook": "https://198.41.0.4/Hook",
    "https://198.41.0.4/hook#part": "https://198.41.0.4/hook",
    "https://198.41.0.4/hook?a=1&b=%20#": "https://198.41.0.4/hook?a=1&b=%20",
    "https://198.41.0.4#@127.0.0.1/": "https://198.41.0.4",
    "https://198.41.0.4:8443/a;b=1": "https://198.41.0.4:8443/a;b=1",
    "https://[2606:4700:4700::1111]:443/": "https://[2606:4700:4700::1111]:443/",
    "https://198.41.0.4/" + "a" * 2029: "https://198.41.0.4/" + "a" * 2029,
    "https://198.41.0.4/%2e%2e/?q=//user@host": "https://198.41.0.4/%2e%2e/?q=//user@host",
}


async def test_malformed_addresses_are_refused(quiet: Shop) -> None:
    """With 422, naming the url, when an endpoint is made and when it is changed."""
    endpoint_id = (await quiet.endpoint())["id"]
    for url in MALFORMED:
        refused = await quiet.endpoint(url, status=422)
        assert [detail["field"] for detail in refused["details"]] == ["url"], url
        answer = await quiet.owner.patch(f"{ENDPOINTS}/{endpoint_id}", {"url": url}, status=422)
        assert answer.wrong_fields == {"url"}, url


async def test_an_address_is_a_text(quiet: Shop) -> None:
    """Nothing else is taken for one."""
    for url in (None, 1, True, [], {}, ["https://198.41.0.4/"], "https://198.41.0.4/\0"):
        answer = await quiet.owner.post(
            ENDPOINTS,
            {"name": "Hook", "url": url, "environment": "test", "events": ["order.created"]},
            status=422,
        )
        assert answer.wrong_fields == {"url"}, url


async def test_addresses_are_kept_without_their_fragment(quiet: Shop) -> None:
    """And otherwise as they were given."""
    endpoint_id = (await quiet.endpoint())["id"]
    for given, kept in KEPT.items():
        path = f"{ENDPOINTS}/{endpoint_id}"
        assert (await quiet.owner.patch(path, {"url": given}, status=200)).data["url"] == kept


async def test_a_name_that_nobody_knows_yet_may_be_saved(quiet: Shop) -> None:
    """Its records may come later; what they say is checked whenever something is sent."""
    made = await quiet.endpoint("https://hooks.tillhouse-test.invalid/")
    assert made["url"] == "https://hooks.tillhouse-test.invalid/"
