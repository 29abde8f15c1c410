"""The carriers of this installation, by the name of their provider."""

from tillhouse.providers.messaging.provider import Messenger
from tillhouse.providers.messaging.sandbox import SandboxMessaging


def messenger(provider: str, whatsapp_url: str) -> Messenger:
    """The messenger of the numbers of this provider."""
    if provider == "sandbox":
        return SandboxMessaging()
    # Its HTTP client takes a fifth of a second to load; commands send nothing.
    from tillhouse.providers.messaging.whatsapp import WhatsApp  # noqa: PLC0415

    return WhatsApp(whatsapp_url)
