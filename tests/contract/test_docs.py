"""The pages beside the API: the reference, its files, the description, the short form."""

import gzip
import json
import re
from urllib.parse import urljoin

from tests.api import Api
from tests.make import Make

_HOST = re.compile(r"(?:src|href|url\()[=\"'(]*\s*(?:https?:)?//")
_FILE = re.compile(r"(?:src|href)=\"(/[^\"#]*)")
# The addresses that a stylesheet or a script names in turn.
_WITHIN = re.compile(r"url\(\"([^\"]+)\"\)|from \"([^\"]+)\"|fetch\(\"([^\"]+)\"\)")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json",
          ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain"}  # fmt: skip


async def script(api: Api) -> str:
    """The path of the page's own script."""
    page = await api.get("/docs", status=200)
    (path,) = re.findall(r"<script type=\"module\" src=\"([^\"]+)\"", page.body.decode())
    return path


async def test_the_reference_and_every_file_that_it_names_are_served(make: Make) -> None:
    """All pages and files come from this server alone, each under its type.

    Links to the desk lead to its door.
    """
    waiting, seen = ["/docs"], set[str]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        is_of_desk = path.startswith("/desk/commands/")
        answer = await make.anybody.get(path, status=303 if is_of_desk else 200)
        if is_of_desk:
            assert answer.headers["location"].startswith("/desk/sign-in?next=")
            continue
        assert answer.headers["content-type"].startswith(
            next((kind for end, kind in _TYPES.items() if path.endswith(end)), "text/html")
        ), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        if path.endswith((".css", ".js")):
            named = ["".join(groups) for groups in _WITHIN.findall(answer.body.decode())]
            waiting += [urljoin(path, name) for name in named]
        elif answer.headers["content-type"].startswith("text/html"):
            loaded = re.sub(r"<a [^>]*>", "", answer.body.decode())
            assert not _HOST.search(loaded), f"{path} loads something from another host"
            waiting += _FILE.findall(answer.body.decode())
    assert {"/docs/api/orders", "/docs/guides/orders", "/docs/search.json", "/openapi.json"} <= seen
    assert {"viewer.js", "try.js", "parts.css", "inter.woff2"} <= {s.split("/")[-1] for s in seen}


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
    assert policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    inline = re.findall(r"<script(?![^>]*\bsrc=)|\son\w+=|javascript:", page.body.decode())
    assert inline == []


async def test_a_page_that_is_known_already_is_not_sent_again(make: Make) -> None:
    """The tag of a page answers 304, packed or not, and only while it fits."""
    path = "/docs/api/orders"
    first = await make.anybody.get(path, status=200)
    tag = first.headers["etag"]
    again = await make.anybody.get(path, headers={"if-none-match": tag}, status=304)
    assert again.body == b""
    other = {"if-none-match": tag, "accept-encoding": "br, gzip"}
    packed = await make.anybody.get(path, headers=other, status=200)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "accept-encoding"
    assert gzip.decompress(packed.body) == first.body
    assert len(packed.body) * 3 < len(first.body)


async def test_a_file_is_kept_for_ever_and_a_page_asked_for_each_time(make: Make) -> None:
    """The path of a file changes with the files, so nobody has an old one beside a new page."""
    path = await script(make.anybody)
    assert re.fullmatch(r"/docs/assets/[0-9a-f]{12}/viewer\.js", path)
    file = await make.anybody.get(path, status=200)
    assert file.headers["cache-control"] == "public, max-age=31536000, immutable"
    page = await make.anybody.get("/docs", status=200)
    assert page.headers["cache-control"] == "no-cache"
    await make.anybody.get("/docs/assets/000000000000/viewer.js", status=404)


async def test_gzip_that_is_declined_is_not_sent(make: Make) -> None:
    """`gzip;q=0` means no."""
    declined = {"accept-encoding": "gzip;q=0, identity"}
    answer = await make.anybody.get("/openapi.json", headers=declined, status=200)
    assert "content-encoding" not in answer.headers
    assert answer.json["openapi"] == "3.1.0"


async def test_the_bare_address_leads_to_the_reference(make: Make) -> None:
    """The door of the desk has a link to it, and each of its pages one to the door."""
    assert b'href="/docs"' in (await make.anybody.get("/", status=200)).body
    assert b'href="/"' in (await make.anybody.get("/docs", status=200)).body


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
