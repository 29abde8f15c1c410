"""The end of a process in time, whatever holds it up."""

import os
import threading

import structlog

# An operator's stop is over within 10 seconds; some managers kill soon after that.
STOPPED_WITHIN_S = 8.0
# A parent waits a little longer for its children.
CHILDREN_STOPPED_WITHIN_S = 8.5

log = structlog.get_logger()


class StopLimit:
    """Ends this process when its orderly end takes too long."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Count from the first signal."""
        if self._timer is None:
            self._timer = threading.Timer(STOPPED_WITHIN_S, _end)
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """The end came by itself."""
        if self._timer is not None:
            self._timer.cancel()


def _end() -> None:
    log.error("stop_forced", after_s=STOPPED_WITHIN_S)
    # The database undoes the work under way, and others do it again, as after a crash.
    os._exit(1)
