"""The command line: `tillhouse` and its commands, a file each."""

import signal

__all__ = ["main"]


def main() -> int:
    """Run the command line; the exit code."""
    try:
        # A Ctrl-C that comes while modules are loaded has nothing to end.
        from tillhouse.cli import commands  # noqa: PLC0415

        return commands.main()
    except KeyboardInterrupt:
        return 130
    finally:
        # One that comes now would interrupt the interpreter's own end.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
