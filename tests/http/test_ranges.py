"""Parts of files: one range of bytes, as RFC 9110 says; everything else is the whole file."""

from typing import cast

import pytest

from tests.api import Api, Response
from tillhouse.access.process import Services
from tillhouse.app import App
from tillhouse.http.api import Api as Server
from tillhouse.http.ranges import file_page
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute

CONTENT = b"0123456789"
# Each reading: where from, and how much.
reads: list[tuple[int, int]] = []


async def serve(_services: Services, asked: RawRequest) -> RawAnswer:
    """A file of ten bytes, or of none."""
    content = CONTENT if asked.path["name"] == "ten" else b""

    async def read(start: int, length: int) -> bytes:
        reads.append((start, length))
        return content[start : start + length]

    return await file_page(asked, "text/plain", len(content), read, [(b"x-own", b"1")])


@pytest.fixture
def api(services: Services) -> Api:
    """A server of nothing but this file."""
    reads.clear()
    route = RawRoute(method="GET", path="/files/{name}", handler=serve)
    return Api(cast("App", Server(services, (), {}, [route])))


async def ask(api: Api, told: str, method: str = "GET", **more: str) -> Response:
    """The file with this header."""
    return await api.request(method, "/files/ten", headers={"range": told, **more})


@pytest.mark.parametrize(
    ("told", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=2-4", 2, 5),
        ("bytes=9-9", 9, 10),
        ("bytes=0-", 0, 10),
        ("bytes=7-", 7, 10),
        ("bytes=7-999999999999999999", 7, 10),
        ("bytes=-3", 7, 10),
        ("bytes=-999999999999999999", 0, 10),
        (" Bytes=1-1 ", 1, 2),
    ],
)
async def test_a_part_is_answered_and_no_more_is_read(
    api: Api, told: str, start: int, end: int
) -> None:
    """206 with the place of the bytes, and their number as the length."""
    answer = await ask(api, told)
    assert (answer.status, answer.body) == (206, CONTENT[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/10"
    assert answer.headers["content-length"] == str(end - start)
    assert (answer.headers["accept-ranges"], answer.headers["x-own"]) == ("bytes", "1")
    assert reads == [(start, end - start)]


@pytest.mark.parametrize(
    "told", ["bytes=10-", "bytes=10-12", "bytes=999999999999999999-", "bytes=-0"]
)
async def test_what_begins_behind_the_end_is_refused(api: Api, told: str) -> None:
    """416 with the size, and nothing is read."""
    answer = await ask(api, told)
    assert (answer.status, answer.json["error"]) == (416, "request_failed")
    assert answer.headers["content-range"] == "bytes */10"
    assert reads == []


async def test_a_file_without_bytes_has_no_part(api: Api) -> None:
    """Whole it is there."""
    assert (await api.get("/files/none", status=200)).body == b""
    answer = await api.get("/files/none", headers={"range": "bytes=0-"}, status=416)
    assert answer.headers["content-range"] == "bytes */0"


@pytest.mark.parametrize(
    "told",
    [
        "bytes=0-1,3-4",
        "bytes=4-2",
        "bytes=-",
        "bytes=",
        "bytes=a-b",
        "bytes=1-2x",
        "bytes=\u0661-\u0662",
        "bytes=--1",
        "bytes=+1-2",
        "bytes=" + "9" * 19 + "-",
        "bytes=0-" + "9" * 10_000,
        "items=0-1",
        "",
    ],
)
async def test_any_other_form_is_the_whole_file(api: Api, told: str) -> None:
    """Several ranges, none, and what is no range of bytes."""
    answer = await ask(api, told.encode().decode("latin-1"))
    assert (answer.status, answer.body) == (200, CONTENT)
    assert "content-range" not in answer.headers
    assert answer.headers["accept-ranges"] == "bytes"


async def test_a_condition_that_cannot_hold_is_the_whole_file(api: Api) -> None:
    """No answer has a validator, so none that is named is the file's."""
    for validator in ('"abc"', "Wed, 21 Oct 2015 07:28:00 GMT"):
        answer = await ask(api, "bytes=2-4", **{"if-range": validator})
        assert (answer.status, answer.body) == (200, CONTENT)


async def test_head_has_no_parts(api: Api) -> None:
    """A range is for GET alone."""
    answer = await ask(api, "bytes=2-4", "HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-length"] == "10"
    assert "content-range" not in answer.headers
