"""The sockets that a server listens on: bound before anything is started, so that a port in use
is told at once."""

import errno
import socket

from tillhouse.cli.output import CommandError

BACKLOG = 2048


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets on every address of the host; with port 0, all on one free port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise CommandError(
            f"There is no address {host} ({error.strerror}): name another with --host."
        ) from error
    sockets: list[socket.socket] = []
    for family, *_, address in dict.fromkeys(found):
        try:
            # A machine may name an IPv6 address and yet have none.
            made = _bound(family, (*address[:1], port, *address[2:]))
        except OSError as error:
            if sockets and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue
            for other in sockets:
                other.close()
            raise _refusal(host, port, error) from error
        sockets.append(made)
        port = made.getsockname()[1]
    return sockets


def listen(sockets: list[socket.socket], host: str) -> None:
    """Take connections from here on."""
    for each in sockets:
        try:
            each.listen(BACKLOG)
        except OSError as error:
            raise _refusal(host, each.getsockname()[1], error) from error


def _bound(family: int, address: tuple[object, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
    except BaseException:
        made.close()
        raise
    return made


def _refusal(host: str, port: int, error: OSError) -> CommandError:
    if error.errno == errno.EADDRINUSE:
        return CommandError(
            f"Port {port} is in use on {host}: stop what listens there, or choose another with "
            "--port (0 takes a free one)."
        )
    if error.errno == errno.EACCES:
        return CommandError(f"Port {port} is not yours to use: choose one from 1024 with --port.")
    return CommandError(f"Nothing can listen on {host}, port {port} ({error.strerror}).")
