"""The pages of the reference: the viewer, the document itself, the short form."""

import json

from tillhouse.access.process import Services
from tillhouse.http.api import Page
from tillhouse.http.exchange import Exchange
from tillhouse.http.pages import ASK_EACH_TIME, KEEP_FOR_EVER, static
from tillhouse.http.problems import Headers
from tillhouse.http.reference import brief
from tillhouse.reference.viewer.site import POLICY, site


def pages(document: bytes) -> dict[str, Page]:
    """Every page by its path."""
    node = json.loads(document)
    short = brief(node["servers"][0]["url"]).encode()
    found: dict[str, Page] = {
        "/": _to_the_reference,
        "/openapi.json": static(lambda: document, "application/json", POLICY, ASK_EACH_TIME),
        "/llms.txt": static(lambda: short, "text/plain; charset=utf-8", POLICY, ASK_EACH_TIME),
    }
    for one in site(node):
        caching = KEEP_FOR_EVER if one.is_immutable else ASK_EACH_TIME
        found[one.path] = static(one.make, one.media_type, POLICY, caching)
    return found


async def _to_the_reference(_services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The bare address leads to something readable."""
    headers: Headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"location", b"/docs")]
    return 307, headers, b"The API reference is at /docs.\n"
