"""Run the benchmarks and print their figures, each beside its bar; `fill` makes a large book."""

import argparse
import sys

from bench import (
    calls,
    checkout,
    desk,
    fairness,
    finance,
    hooks,
    hotel,
    inbox,
    ledger,
    orders,
    requests,
    turns,
    voice,
    webhooks,
)
from bench.filling import command as filling

SUBJECTS = {
    "requests": requests.measure,
    "webhooks": webhooks.measure,
    "orders": orders.measure,
    "ledger": ledger.measure,
    "fairness": fairness.measure,
    "finance": finance.measure,
    "hooks": hooks.measure,
    "checkout": checkout.measure,
    "calls": calls.measure,
    "voice": voice.measure,
    "hotel": hotel.measure,
    "inbox": inbox.measure,
    "turns": turns.measure,
    "desk": desk.measure,
}


def main() -> None:
    """Measure what is named, or everything."""
    if sys.argv[1:2] == ["fill"]:
        filling.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of requests, to take medians")
    parser.add_argument("--backlog", type=int, default=20_000, help="deliveries to drain")
    parser.add_argument(
        "--beside", action="store_true", help="of webhooks: only the API beside a backlog"
    )
    parser.add_argument(
        "--floods", action="store_true", help="of webhooks and calls: beside others that flood"
    )
    parser.add_argument(
        "--steady", action="store_true", help="of webhooks: only orders with one endpoint"
    )
    parser.add_argument("--log", type=int, default=0, help="deliveries of the long log to list")
    parser.add_argument("--rows", type=int, default=0, help="of the large book to list")
    parser.add_argument("--books", default=orders.BOOKS, help="folder in which books are kept")
    parts = sorted({*orders.PARTS, *hotel.PARTS})
    parser.add_argument("--only", choices=parts, help="one part of orders or hotel")
    options = parser.parse_args()
    for name in options.subjects or SUBJECTS:
        if name not in SUBJECTS:
            parser.error(f"{name} is none of {', '.join(SUBJECTS)}")
        SUBJECTS[name](options)


if __name__ == "__main__":
    main()
