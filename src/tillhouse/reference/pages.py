"""The pages of the reference: the viewer, the document itself, the short form."""

import json
from importlib.resources import files

from tillhouse.http.api import Page
from tillhouse.http.pages import ASK_EACH_TIME, KEEP_FOR_EVER, static
from tillhouse.reference.introduction import brief
from tillhouse.reference.viewer.site import POLICY, site

DOCUMENT = "openapi.json"
# The address in the finished document, as it is written there.
_SERVER = b'"url": "http://127.0.0.1:8000"'


def pages(url: str) -> dict[str, Page]:
    """Every page by its path; the document names this address."""
    served = document(url)
    short = brief(url).encode()
    found: dict[str, Page] = {
        "/openapi.json": static(lambda: served, "application/json", POLICY, ASK_EACH_TIME),
        "/llms.txt": static(lambda: short, "text/plain; charset=utf-8", POLICY, ASK_EACH_TIME),
    }
    for one in site(json.loads(served)):
        caching = KEEP_FOR_EVER if one.is_immutable else ASK_EACH_TIME
        found[one.path] = static(one.make, one.media_type, POLICY, caching)
    return found


def document(url: str) -> bytes:
    """The finished document, with this address as its server."""
    finished = (files("tillhouse.reference") / DOCUMENT).read_bytes()
    return finished.replace(_SERVER, b'"url": %s' % json.dumps(url).encode(), 1)
