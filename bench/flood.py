"""Datagrams to ports of this machine from an address that belongs to no call, at a steady rate.

`python -m bench.flood PER_SECOND SECONDS PORT…`; prints how many it sent.
"""

import os
import socket
import sys
import time

_BYTES = 172
_STEP_S = 0.002


def main(per_second: int, seconds: float, ports: list[int]) -> None:
    """Send them."""
    flooding = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flooding.bind(("127.0.0.2", 0))
    data = b"\x80\x00" + os.urandom(_BYTES - 2)
    began, sent = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        while sent < passed * per_second:
            flooding.sendto(data, ("127.0.0.1", ports[sent % len(ports)]))
            sent += 1
        time.sleep(_STEP_S)
    sys.stdout.write(f"{sent}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), [int(port) for port in sys.argv[3:]])
