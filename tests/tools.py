"""The programs and libraries of others that `make proof` needs: `make proof-tools` installs them.

A machine that lacks one skips its tests, which say what to install.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The package of Debian that brings each program.
DEBIAN = {
    "baresip": "baresip-core",
    "chromium": "chromium",
    "espeak-ng": "espeak-ng",
    "go": "golang-go",
    "javac": "default-jdk-headless",
    "node": "nodejs",
    "npm": "npm",
    "php": "php-cli",
    "ruby": "ruby",
    "sipp": "sip-tester",
}
NODE_FOLDER = ROOT / ".venv/node"
NODE = {
    "axe-core": "4.14.1",
    "playwright-core": "1.65.1",
    "standardwebhooks": "1.1.1",
    "stripe": "23.0.1",
    "svix": "2.4.0",
}
# A judge installs and compiles what it judges.
_HUNG_S = 30 * 60
# Of Python, pinned by their hashes.
LOCK = ROOT / "requirements/proof.txt"
PYTHON = ("pocketsphinx",)


def program(name: str) -> str:
    """Where a program is; the test is skipped on a machine that lacks it."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(_lack(name, DEBIAN[name]))
    return found


def node_module(name: str) -> Path:
    """The folder of the modules for node that has this one; skipped on a machine without it."""
    program("node")
    if not _has_node_module(name):
        pytest.skip(_lack(f"{name} of npm", f"{name}@{NODE[name]}"))
    return NODE_FOLDER


def needs(name: str) -> pytest.MarkDecorator:
    """A mark for tests of a program, or of a library of Python."""
    is_there = shutil.which(name) or importlib.util.find_spec(name)
    return pytest.mark.skipif(not is_there, reason=_lack(name, DEBIAN.get(name, name)))


def run_judge(module: str, *args: str) -> None:
    """Run a module that judges by programs of others; fails with what they say."""
    done = subprocess.run(
        [sys.executable, "-m", module, *args],
        capture_output=True, text=True, check=False, timeout=_HUNG_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def _lack(name: str, package: str) -> str:
    return f"no {name}: `make proof-tools` installs it ({package})"


def _has_node_module(name: str) -> bool:
    told = NODE_FOLDER / "node_modules" / name / "package.json"
    return told.is_file() and json.loads(told.read_text("utf-8"))["version"] == NODE[name]


def missing() -> dict[str, str]:
    """All that is not there, with the package that brings it."""
    return {
        **{name: package for name, package in DEBIAN.items() if shutil.which(name) is None},
        **{f"{name} of npm": f"{name}@{NODE[name]}" for name in NODE if not _has_node_module(name)},
        **{name: name for name in PYTHON if importlib.util.find_spec(name) is None},
    }


def main() -> int:
    """Install what is missing; 1 when something is missing even then."""
    told = [*_install_programs(), *_install_node_modules(), *_install_libraries()]
    importlib.invalidate_caches()
    if left := missing():
        lacks = ", ".join(f"{name} ({package})" for name, package in left.items())
        sys.stderr.write("".join(told) + f"Still missing for make proof: {lacks}.\n")
        return 1
    sys.stdout.write("All that make proof needs is there.\n")
    return 0


def _install_programs() -> Iterator[str]:
    packages = sorted({DEBIAN[name] for name in DEBIAN if shutil.which(name) is None})
    if packages:
        install = ("apt-get", "install", "-qq", "-y", "--no-install-recommends")
        yield _run("apt-get", "update", "-qq")
        if failed := _run(*install, *packages):
            yield failed
            # One that this release of Debian doesn't have keeps back none of the others.
            for package in packages:
                _run(*install, package)


def _install_node_modules() -> Iterator[str]:
    if not all(map(_has_node_module, NODE)):
        NODE_FOLDER.mkdir(parents=True, exist_ok=True)
        wanted = [f"{name}@{version}" for name, version in NODE.items()]
        yield _run("npm", "install", "--no-audit", "--no-fund", "--prefix", str(NODE_FOLDER),
                   *wanted)  # fmt: skip


def _install_libraries() -> Iterator[str]:
    if any(importlib.util.find_spec(name) is None for name in PYTHON):
        yield _run(
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"),
            *("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK)),
        )


def _run(*command: str) -> str:
    """Run a command in silence; its words, when it fails."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, check=False, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
    except FileNotFoundError:
        return f"There is no {command[0]} to install by.\n"
    return f"{' '.join(command[:2])}:\n{done.stdout}" if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
