"""A setting of a number that its provider can't use."""

from collections.abc import Mapping, Sequence


class WrongSettings(Exception):
    """A setting that can't be used, and why; the text never holds a secret."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")
        self.name, self.why = name, why


def refuse_unknown(settings: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise `WrongSettings` for a setting that the provider doesn't have."""
    for name in settings:
        if name not in known:
            raise WrongSettings(name, f"is no setting of this provider: it has {', '.join(known)}")
