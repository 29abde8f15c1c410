"""A process that has the commands loaded and becomes one by a fork, as often as it is asked to.

Loading the product takes most of the time of most commands, and tests call hundreds of them. A
forked command is a process of its own all the same: with its arguments, environment, folder and
descriptors, its exit status, and its end by a signal. Tests of how a command starts, and of those
that start others like themselves, start real ones.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from tests.waiting import HUNG_S

_LENGTH = 4
_STATUS = 8
# Standard input, output and error, and the socket on which its keeper tells of it.
_DESCRIPTORS = 4


class ForkServer:
    """The process, as those see it who ask it for commands."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self._end)

    def start(
        self, args: list[str], environment: Mapping[str, str], descriptors: list[int]
    ) -> None:
        """Start a command with these descriptors; the last one tells its id and its status."""
        asked = json.dumps(
            {"args": args, "environment": dict(environment), "folder": str(Path.cwd())}
        )
        data = asked.encode()
        with self._lock:
            socket.send_fds(self._socket, [len(data).to_bytes(_LENGTH)], descriptors)
            self._socket.sendall(data)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait(HUNG_S)


_server: list[ForkServer] = []
_starting = threading.Lock()


def _running() -> ForkServer:
    """The one server of this process, started by the first command."""
    with _starting:
        if not _server:
            _server.append(ForkServer())
        return _server[0]


class ForkedCommand(subprocess.Popen[Any]):
    """A command that the server forks; `args` are those after `python -m tillhouse`."""

    _status: socket.socket

    def _execute_child(self, args: Any, *given: Any) -> None:
        """Let the server start it, with the descriptors that `Popen` made."""
        _, _, _, _, _, env, _, _, _, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = (
            given[:15]
        )
        self._status, theirs = socket.socketpair()
        descriptors = [p2cread, c2pwrite, errwrite]
        try:
            _running().start(args, env, [*descriptors, theirs.fileno()])
        finally:
            theirs.close()
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        self.pid = int.from_bytes(self._read())
        self._child_created = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """Wait for the status as `os.waitpid` does: (0, 0) where there is none yet."""
        if wait_flags & os.WNOHANG:
            self._status.setblocking(False)
        try:
            status = int.from_bytes(self._read())
        except BlockingIOError:
            return 0, 0
        finally:
            self._status.setblocking(True)
        self._status.close()
        return self.pid, status

    def _internal_poll(self, *_given: Any, **_options: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode

    def _read(self) -> bytes:
        data = self._status.recv(_STATUS)
        if len(data) != _STATUS:
            raise RuntimeError("The process that forks commands is gone.")
        return data


def _serve(asking: socket.socket) -> None:
    """Fork a keeper for each command that is asked for, until nobody can ask any more."""
    # Keepers are reaped by the system.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Ctrl-C is for those who ask.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        head, descriptors, _, _ = socket.recv_fds(asking, _LENGTH, _DESCRIPTORS)
        if not head:
            return
        data = bytearray()
        while len(data) < int.from_bytes(head):
            more = asking.recv(int.from_bytes(head) - len(data))
            if not more:
                # Killed while it asked.
                return
            data += more
        if os.fork() == 0:
            asking.close()
            _keep(json.loads(data), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(asked: dict[str, Any], descriptors: list[int]) -> None:
    """Fork the command; tell its id and then its status. Only the command returns from this."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *standard, telling = descriptors
    pid = os.fork()
    if pid == 0:
        os.close(telling)
        _become(asked, standard)
        return
    for descriptor in standard:
        os.close(descriptor)
    os.write(telling, pid.to_bytes(_STATUS))
    _, status = os.waitpid(pid, 0)
    os.write(telling, status.to_bytes(_STATUS))
    os._exit(0)


def _become(asked: dict[str, Any], standard: list[int]) -> NoReturn:
    """Be the command."""
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv[1:] = asked["args"]
    try:
        runpy.run_module("tillhouse", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            raise
        _leave(ended.code or 0)
    _leave(0)


def _leave(code: int) -> NoReturn:
    """End as an interpreter does, but for taking apart what was loaded: that copies its memory."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)
    os._exit(code)


def _load() -> None:
    """Import what commands import."""
    from tillhouse import app  # noqa: F401, PLC0415
    from tillhouse.cli.commands import TABLE  # noqa: PLC0415

    for name, entry in TABLE.items():
        entry.load(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
