"""Every page of the desk that links lead to: its bytes, and how long eight browsers wait for it."""

import gzip
import http.client
import re
from collections.abc import Iterator

import msgspec
from rich.console import Console
from rich.table import Table

from bench import client

_LINK = re.compile(r'href="(/desk(?!/assets/)[^"#?]*)"')
_ASSET = re.compile(r'"(/desk/assets/\w+/[\w.-]+\.(?:css|js))"')
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ACCEPT = "gzip"


class PageSize(msgspec.Struct, frozen=True):
    """A page as a browser gets it on a first visit, compressed."""

    address: str
    page_bytes: int
    # Its styles and scripts.
    code_bytes: int


def measure(console: Console, port: int, cookie: str, clients: int, seconds: float) -> None:
    """Print a table of one page of each kind, the slowest first."""
    timed: list[tuple[PageSize, client.Result]] = []
    for one in _walk(port, cookie):
        request = client.get(one.address, [f"cookie: {cookie}", f"accept-encoding: {_ACCEPT}"])
        timed.append((one, client.run(port, request, clients=clients, seconds=seconds)))
    table = Table("page", "bytes", "with styles and scripts", "pages/s", "p50", "p95")
    for one, took in sorted(timed, key=lambda row: -row[1].p95_ms):
        assert not took.failures, one.address
        table.add_row(
            _ID.sub("{id}", one.address), f"{one.page_bytes:,}",
            f"{one.page_bytes + one.code_bytes:,}", f"{took.per_second:.0f}",
            f"{took.p50_ms:.1f} ms", f"{took.p95_ms:.1f} ms",
        )  # fmt: skip
    console.print(table)


def _walk(port: int, cookie: str) -> Iterator[PageSize]:
    """One page of each kind, from the overview on by links alone."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    code: dict[str, int] = {}
    waiting, seen = ["/desk"], set[str]()

    def fetch(address: str) -> bytes | None:
        connection.request("GET", address, headers={"cookie": cookie, "accept-encoding": _ACCEPT})
        answer = connection.getresponse()
        body = answer.read()
        is_page = answer.status == 200 and answer.headers["content-encoding"] == "gzip"
        return body if is_page else None

    def sized(asset: str) -> int:
        if asset not in code:
            code[asset] = len(fetch(asset) or b"")
        return code[asset]

    while waiting:
        address = waiting.pop(0)
        kind = _ID.sub("{id}", address)
        if kind in seen:
            continue
        seen.add(kind)
        body = fetch(address)
        if body is None:
            continue
        text = gzip.decompress(body).decode()
        waiting += _LINK.findall(text)
        yield PageSize(address, len(body), sum(map(sized, sorted(set(_ASSET.findall(text))))))
