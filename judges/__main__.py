"""`make judge`: generators of clients take the description without a warning, and it works.

Needs node with npm, and the package registries of both languages; everything is made in a
temporary folder.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from story.servers import Installation
from tests.waiting import HUNG_S

from tillhouse.db.embedded import Embedded

HERE = Path(__file__).parent
DOCUMENT = HERE.parent / "src/tillhouse/reference/openapi.json"
_WARNING = ("warning", "cannot parse", "unable to", "error")
_PASSWORD = "a long phrase is best"  # noqa: S105 - of a business that lives for a minute


def main() -> None:
    """All judges, one after the other."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-judges-") as name:
        folder = Path(name)
        for file in ("package.json", "program.ts", "program.py"):
            shutil.copy(HERE / file, folder / file)
        shutil.copy(DOCUMENT, folder / "openapi.json")
        _install(folder)
        _generate(folder)
        _check_types(folder)
        _run_programs(folder)
    print("Every generator took the description, and both programs ran.")


def _install(folder: Path) -> None:
    _do(folder, "npm", "install", "--silent", "--no-audit", "--no-fund", quiet=True)
    _do(folder, sys.executable, "-m", "venv", "tools")
    _do(folder, "tools/bin/pip", "install", "-q", "-r", str(HERE / "requirements.txt"), quiet=True)


def _generate(folder: Path) -> None:
    """Each generator, none of which may warn."""
    node = "node_modules/.bin"
    _do(folder, f"{node}/openapi-typescript", "openapi.json", "-o", "types.ts")
    _do(folder, f"{node}/openapi-ts", "-i", "./openapi.json", "-o", "client-ts")
    _do(folder, "tools/bin/openapi-python-client", "generate", "--path", "openapi.json",
        "--output-path", "client", "--meta", "none")  # fmt: skip
    _do(folder, "tools/bin/datamodel-codegen", "--input", "openapi.json", "--input-file-type",
        "openapi", "--formatters", "builtin", "--output", "models.py",
        "--output-model-type", "pydantic_v2.BaseModel")  # fmt: skip


def _check_types(folder: Path) -> None:
    """The programs and what they use, by the compilers of their languages."""
    program = (folder / "program.ts").read_text("utf-8").replace("./client/", "./client-ts/")
    (folder / "program.ts").write_text(program, encoding="utf-8")
    _do(folder, "node_modules/.bin/tsc", "--strict", "--target", "es2022", "--module", "commonjs",
        "--moduleResolution", "node10", "--skipLibCheck", "--lib", "es2022,dom,dom.iterable",
        "--types", "node", "--outDir", "built", "program.ts")  # fmt: skip
    config = {"include": ["program.py"], "venvPath": ".", "venv": "tools"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    _do(folder, str(Path(sys.executable).parent / "basedpyright"), "--level", "error")


def _run_programs(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tillhouse-judges-") as data:
        server = Embedded.start(Path(data))
        try:
            installation = Installation(server.url, folder / "log", None)
            with installation.serving() as address:
                _do(folder, "node", "built/program.js", address, _key(address, "ts"))  # fmt: skip
                _do(folder, "tools/bin/python", "program.py", address, _key(address, "py"))
        finally:
            server.release()


def _key(address: str, name: str) -> str:
    """The secret of a key of a business of its own."""
    account = {"name": "Ada Okafor", "email": f"{name}@example.com", "password": _PASSWORD,
               "business_name": "Ada's Kitchen"}  # fmt: skip
    token = _call(address, "/api/auth/register", account)["accessToken"]
    _call(address, "/api/auth/verify-password", {"password": _PASSWORD}, token)
    scopes = ["orders:read", "orders:write", "customers:write"]
    key = {"name": name, "environment": "test", "scopes": scopes}
    return _call(address, "/api/developer/api-keys", key, token)["secret"]


def _call(address: str, path: str, body: dict[str, Any], token: str = "") -> Any:
    request = urllib.request.Request(  # noqa: S310 - our own server
        address + path,
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "authorization": f"Bearer {token}"}
        if token
        else {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=HUNG_S) as answer:  # noqa: S310
        return json.load(answer)["data"]


def _do(folder: Path, *command: str, quiet: bool = False) -> None:
    """Run a command; its failure is ours, and so is a warning."""
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": tools},
        capture_output=True,
        text=True,
        check=False,
    )
    told = done.stdout + done.stderr
    has_warned = not quiet and any(word in told.lower() for word in _WARNING)
    is_fine = "0 errors" in told and done.returncode == 0
    if done.returncode or (has_warned and not is_fine):
        raise SystemExit(f"{' '.join(command[:2])}:\n{told}")
    print(f"{Path(command[0]).name}: fine")


if __name__ == "__main__":
    main()
