"""Other people's telephones as processes: sipp and baresip, where they are installed."""

import asyncio
import json
import secrets
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.waiting import ended

_READY_LOOK_S = 0.02


def free_port() -> int:
    """An even port that nobody has at the moment, for UDP and for TCP.

    It lies below those that outgoing connections draw theirs from, so that none takes it before
    the program does.
    """
    while True:
        port = 2 * secrets.randbelow(6_000) + 20_000
        if all(_is_free(port, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)):
            return port


def _is_free(port: int, kind: socket.SocketKind) -> bool:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


async def _listens(port: int) -> None:
    """Wait until a process has a port for UDP: it can't be taken a second time."""
    while True:
        if not _is_free(port, socket.SOCK_DGRAM):
            return
        await asyncio.sleep(_READY_LOOK_S)


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


@asynccontextmanager
async def sipp(folder: Path, *options: str) -> AsyncIterator[tuple[str, Process]]:
    """One call of sipp as a server; the address that it answers."""
    port, media = free_port(), free_port()
    process = await asyncio.create_subprocess_exec(
        "sipp", *options, "-m", "1", "-i", "127.0.0.1", "-p", str(port), "-mp", str(media),
        "-nostdin", cwd=folder, stdout=DEVNULL, stderr=DEVNULL,
    )  # fmt: skip
    try:
        await ended(_listens(port))
        yield f"sip:customer@127.0.0.1:{port}", process
    finally:
        await _end(process)


def scenario(folder: Path, *steps: str) -> Path:
    """A scenario of sipp that receives an INVITE and does these steps."""
    path = folder / "scenario.xml"
    path.write_text(
        '<?xml version="1.0" encoding="ISO-8859-1" ?>\n<scenario name="uas">\n'
        + '<recv request="INVITE" crlf="true"/>\n'
        + "\n".join(steps)
        + "\n</scenario>\n"
    )
    return path


def reply(first: str, *more: str) -> str:
    """A step of a scenario that answers the last request."""
    lines = [
        f"SIP/2.0 {first}", "[last_Via:]", "[last_From:]", "[last_To:];tag=[call_number]",
        "[last_Call-ID:]", "[last_CSeq:]", "Contact: <sip:[local_ip]:[local_port]>", *more,
        "Content-Length: 0",
    ]  # fmt: skip
    return "<send><![CDATA[\n" + "\n".join(lines) + "\n\n]]></send>"


class Baresip:
    """A softphone that answers by itself, writes down what it hears, and takes commands."""

    def __init__(self, folder: Path, port: int, control: int) -> None:
        self.folder, self.uri = folder, f"sip:customer@127.0.0.1:{port}"
        self._control = control

    async def command(self, name: str, parameters: str = "") -> None:
        """Give a command by its control socket, in a netstring of JSON."""
        body = json.dumps({"command": name, "params": parameters, "token": "1"})
        reader, writer = await asyncio.open_connection("127.0.0.1", self._control)
        writer.write(f"{len(body)}:{body},".encode())
        await writer.drain()
        await ended(reader.readuntil(b","))
        writer.close()
        await writer.wait_closed()

    def heard(self) -> Path:
        """The file of what it decoded."""
        (path,) = self.folder.glob("dump-*-dec.wav")
        return path


def _configuration(folder: Path, port: int, control: int, tone: Path) -> str:
    modules = Path("/usr/lib/baresip/modules")
    return f"""module_path {modules}
module stdio.so
module g711.so
module sndfile.so
module aufile.so
module account.so
module ctrl_tcp.so
module menu.so
sip_listen 127.0.0.1:{port}
sip_verify_server no
audio_player aufile,{folder / "player.wav"}
audio_source aufile,{tone}
ausrc_srate 8000
auplay_srate 8000
audio_channels 1
snd_path {folder}
ctrl_tcp_listen 127.0.0.1:{control}
"""


@asynccontextmanager
async def baresip(folder: Path, tone: Path, user: str = "customer") -> AsyncIterator[Baresip]:
    """A softphone that answers each call to this user."""
    port, control = free_port(), free_port()
    (folder / "config").write_text(_configuration(folder, port, control, tone))
    (folder / "accounts").write_text(
        f"<sip:{user}@127.0.0.1:{port}>;regint=0;answermode=auto;audio_codecs=pcmu\n"
    )
    (folder / "contacts").write_text("")
    process = await asyncio.create_subprocess_exec(
        "baresip", "-f", str(folder), stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, cwd=folder
    )
    try:
        await ended(_listens(port))
        yield Baresip(folder, port, control)
    finally:
        await _end(process)
