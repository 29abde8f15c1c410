"""The means that every conversation of a process shares: speech engines, and a way to models."""

from tillhouse.outgoing.client import ServerClient
from tillhouse.settings import Settings
from tillhouse.voice.speech.engines import Engines


class Means:
    """Opened once in a process."""

    def __init__(self, settings: Settings) -> None:
        self.engines = Engines(settings)
        self.models = ServerClient(settings.model_allow_targets, settings.webhook_ca_file)

    def close(self) -> None:
        """Ask no engine any more."""
        self.engines.close()
        self.models.close()
