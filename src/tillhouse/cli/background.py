"""Work in a thread beside the server, from its start to its end."""

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Background(ABC):
    """A thread that runs as long as a `with` block lasts."""

    def __init__(self, name: str) -> None:
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell the work that it is over, and wait until it has ended."""
        self.over.set()
        self._thread.join()

    @abstractmethod
    def run(self) -> None:
        """Work until `over` is set."""
