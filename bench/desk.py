"""Pages of the desk beside the calls that they make: `desk`.

Eight browsers, each on one page again and again; then eight clients on the same calls of the API,
as many times as the page makes them. Both on one process, in one run. Then every page by itself
(`bench/pages.py`), and pages that are open and live (`bench/live.py`).
"""

import argparse
import http.client
import re
from pathlib import Path
from urllib.parse import urlencode

import msgspec
from rich.console import Console
from rich.table import Table

from bench import client, live, pages, world
from bench.lists import SMALL, Book, Client, open_book

CLIENTS = 8
TIMES_MAX, P95_MS_MAX = 2.0, 40.0
MINUTE_S = 60.0
# The frame of every page asks for this as well.
_OF_THE_FRAME = ("/v1/stores?limit=100",)
_COMMAND = re.compile(r'data-copy="curl -sS &#34;\$BASE([^&]*(?:&amp;[^&]*)*)&#34;')


class PageTiming(msgspec.Struct):
    """A page beside its calls."""

    page: client.Result
    # How long all of its calls take one after the other, and how many they are.
    calls_ms: float
    calls: int


def measure(options: argparse.Namespace) -> None:
    """Measure the pages on a book of so many orders, and print a table."""
    with (
        open_book(Path(options.books), max(SMALL, options.rows)) as book,
        world.server("tillhouse", book.url, **book.settings) as port,
    ):
        cookie = _sign_in(port, book)
        login = {"email": book.email, "password": book.password}
        token = world.call(port, "POST", "/api/auth/login", login)["accessToken"]
        order = Client(port, book.token).get("/v1/orders?limit=1")["data"][0]["id"]
        paths = ("/desk", "/desk/orders", f"/desk/orders/{order}", "/desk/sell", "/desk/customers",
                 "/desk/account")  # fmt: skip
        found = {path: _time(port, path, cookie, token, options.seconds) for path in paths}
        console = Console(width=120)
        report(console, found)
        pages.measure(console, port, cookie, CLIENTS, options.seconds / 4)
    live.measure(console, MINUTE_S)


def _sign_in(port: int, book: Book) -> str:
    """The cookies of a browser that shows the test book."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
    }
    body = urlencode({"email": book.email, "password": book.password})
    connection.request("POST", "/desk/sign-in", body, headers)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 303, answer.status
    secret = (answer.headers["set-cookie"] or "").partition(";")[0]
    return f"{secret}; tillhouse-mode=test"


def _time(port: int, path: str, cookie: str, token: str, seconds: float) -> PageTiming:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path, headers={"cookie": cookie})
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, (path, answer.status)
    calls = [*_OF_THE_FRAME, *(one.replace("&amp;", "&") for one in _COMMAND.findall(text))]
    request = client.get(path, [f"cookie: {cookie}", "accept-encoding: gzip"])
    page = client.run(port, request, clients=CLIENTS, seconds=seconds)
    headers = [f"authorization: Bearer {token}", "service-environment: test"]
    took = [
        client.run(port, client.get(call, headers), clients=CLIENTS, seconds=seconds / len(calls))
        for call in calls
    ]
    assert not page.failures
    assert not any(one.failures for one in took), calls
    return PageTiming(page, sum(one.p50_ms for one in took), len(calls))


def report(console: Console, found: dict[str, PageTiming]) -> None:
    """The table, and whether the bars are kept."""
    table = Table("page", "pages/s", "p50", "p95", "calls", "their p50 in all", "times")
    is_kept = True
    for path, one in found.items():
        times = one.page.p50_ms / one.calls_ms
        is_kept = is_kept and times <= TIMES_MAX and one.page.p95_ms <= P95_MS_MAX
        cells = (
            f"{one.page.per_second:.0f}", f"{one.page.p50_ms:.1f} ms", f"{one.page.p95_ms:.1f} ms",
            str(one.calls), f"{one.calls_ms:.1f} ms", f"{times:.2f}",
        )  # fmt: skip
        table.add_row(re.sub(r"[0-9a-f-]{36}", "{order_id}", path), *cells)
    console.print(table)
    console.print(
        f"bar: p95 at most {P95_MS_MAX:g} ms at {CLIENTS} clients, and at most {TIMES_MAX:g} times "
        f"the calls under it, {'kept' if is_kept else 'MISSED'}"
    )
