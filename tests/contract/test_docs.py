"""The pages beside the API: the reference, its files, the description, the short form."""

import gzip
import json
import re

from tests.make import Make

_HOST = re.compile(r"(?:src|href|spec-url|url\()[=\"'(]*\s*(?:https?:)?//")
_FILE = re.compile(r"(?:src|href|spec-url)=\"(/[^\"]*)\"")


async def test_the_reference_and_every_file_that_it_names_are_served(make: Make) -> None:
    """The viewer comes from this server alone, each file under its type."""
    page = await make.anybody.get("/docs", status=200)
    text = page.body.decode()
    assert not _HOST.search(text), "/docs loads something from another host"
    named = set(_FILE.findall(text))
    assert {"/docs/rapidoc-min.js", "/docs/docs.js", "/docs/docs.css", "/openapi.json"} <= named
    types = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
    for path in sorted(named):
        answer = await make.anybody.get(path, status=200)
        suffix = path[path.rfind(".") :]
        assert answer.headers["content-type"].startswith(types.get(suffix, "")), path
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_reference_runs_no_script_but_its_own(make: Make) -> None:
    """The policy allows scripts and connections to this server only, and the page has no other."""
    page = await make.anybody.get("/docs", status=200)
    policy = dict(
        part.strip().split(" ", 1)
        for part in page.headers["content-security-policy"].split(";")
        if " " in part.strip()
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    inline = re.findall(r"<script(?![^>]*\bsrc=)|\son\w+=|javascript:", page.body.decode())
    assert inline == []


async def test_a_page_that_is_known_already_is_not_sent_again(make: Make) -> None:
    """The tag of a page answers 304, packed or not, and only while it fits."""
    first = await make.anybody.get("/docs/rapidoc-min.js", status=200)
    tag = first.headers["etag"]
    again = await make.anybody.get(
        "/docs/rapidoc-min.js", headers={"if-none-match": tag}, status=304
    )
    assert again.body == b""
    other = {"if-none-match": tag, "accept-encoding": "br, gzip"}
    packed = await make.anybody.get("/docs/rapidoc-min.js", headers=other, status=200)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "accept-encoding"
    assert gzip.decompress(packed.body) == first.body
    assert len(packed.body) * 3 < len(first.body)


async def test_gzip_that_is_declined_is_not_sent(make: Make) -> None:
    """`gzip;q=0` means no."""
    declined = {"accept-encoding": "gzip;q=0, identity"}
    answer = await make.anybody.get("/openapi.json", headers=declined, status=200)
    assert "content-encoding" not in answer.headers
    assert answer.json["openapi"] == "3.1.0"


async def test_the_bare_address_leads_to_the_reference(make: Make) -> None:
    """Until there is a dashboard, / is a redirect."""
    answer = await make.anybody.get("/", status=307)
    assert answer.headers["location"] == "/docs"


async def test_the_short_form_names_operations_that_exist(make: Make) -> None:
    """Every method and path in /llms.txt is in the description."""
    text = (await make.anybody.get("/llms.txt", status=200)).body.decode()
    document = json.loads((await make.anybody.get("/openapi.json", status=200)).body)
    url = document["servers"][0]["url"]
    named = re.findall(rf"`(GET|POST|PATCH|DELETE) {re.escape(url)}([^`]+)`", text)
    assert len(named) >= 4
    for method, path in named:
        assert method.lower() in document["paths"][path]
    for path in re.findall(rf"\({re.escape(url)}([^)]+)\)", text):
        await make.anybody.get(path, status=200)


async def test_pages_answer_head_and_refuse_the_rest(make: Make) -> None:
    """HEAD has the headers of GET without the body; a page takes no writes."""
    full = await make.anybody.get("/openapi.json", status=200)
    head = await make.anybody.request("HEAD", "/openapi.json", status=200)
    assert head.body == b""
    assert head.headers["content-length"] == full.headers["content-length"]
    assert (await make.anybody.post("/openapi.json")).status in (404, 405)
