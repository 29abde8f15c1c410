"""Judges every page at /docs in Chromium: `make pages`.

Needs what `make proof-tools` installs (`CHROMIUM` names another browser).
"""

import argparse
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.browser.chromium import judge
from tests.reference.pages import DOCUMENT
from tillhouse.reference.viewer.site import POLICY, site

RESOURCES = {one.path: one for one in site(DOCUMENT)}


class Pages(BaseHTTPRequestHandler):
    """Serves the site under its policy; any other path answers what was sent to it."""

    def do_GET(self) -> None:
        """A page, a file, or an echo."""
        found = RESOURCES.get(self.path.partition("?")[0])
        if found is not None:
            self._answer(found.make(), found.media_type)
        else:
            self._echo()

    def _echo(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        said = {"method": self.command, "path": self.path, "headers": dict(self.headers),
                "body": self.rfile.read(length).decode()}  # fmt: skip
        self._answer(json.dumps(said).encode(), "application/json")

    do_POST = do_PUT = do_PATCH = do_DELETE = _echo  # noqa: N815 - the library's names

    def _answer(self, body: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-security-policy", POLICY)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Nobody reads it."""


def main() -> int:
    """Serve the pages and let the browser look at them."""
    parser = argparse.ArgumentParser(prog="make pages")
    parser.add_argument("--only", default="", help="these paths, with commas between them")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of each page")
    asked = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    return judge("judge.mjs", asked.shots, BASE=base, ONLY=asked.only)


if __name__ == "__main__":
    sys.exit(main())
