"""Run the benchmarks and print their figures, each beside its bar."""

import argparse

from bench import requests, webhooks

SUBJECTS = {"requests": requests.measure, "webhooks": webhooks.measure}


def main() -> None:
    """Measure what is named, or everything."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of requests, to take medians")
    parser.add_argument("--backlog", type=int, default=20_000, help="deliveries to drain")
    options = parser.parse_args()
    for name in options.subjects or SUBJECTS:
        if name not in SUBJECTS:
            parser.error(f"{name} is none of {', '.join(SUBJECTS)}")
        SUBJECTS[name](options)


if __name__ == "__main__":
    main()
