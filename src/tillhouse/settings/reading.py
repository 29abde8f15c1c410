"""Reads one value of the environment after another, each failure naming its variable."""

import math
import os
from collections.abc import Collection, Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

from tillhouse.kit.network import parse_networks
from tillhouse.kit.smtp import SmtpServer, parse_smtp_url
from tillhouse.kit.text import email_address

PREFIX = "TILLHOUSE_"
PASSPHRASE_LENGTH_MIN = 12


class SettingError(Exception):
    """A setting that can't be used: the sentence says which and how to mend it."""


def default_data_folder(environ: Mapping[str, str]) -> Path:
    """The user's data folder, as the XDG rules name it; root keeps its data in /var/lib."""
    if os.geteuid() == 0 and not environ.get("XDG_DATA_HOME"):
        return Path("/var/lib/tillhouse")
    home = environ.get("XDG_DATA_HOME") or str(Path(environ.get("HOME", "~")) / ".local/share")
    return Path(home).expanduser() / "tillhouse"


class Values:
    """The environment, over which flags win."""

    def __init__(self, environ: Mapping[str, str], given: Mapping[str, object]) -> None:
        self._environ = environ
        self._given = given

    def refuse_unknown(self, names: Collection[str]) -> None:
        """A typo in a variable's name must not pass in silence."""
        known = {PREFIX + name for name in names} | {PREFIX + name + "_FILE" for name in names}
        for name in sorted(self._environ):
            if (
                name.startswith(PREFIX)
                and name not in known
                and not name.startswith(PREFIX + "TEST_")
            ):
                raise SettingError(
                    f"{name} is no setting of Tillhouse: correct its name or unset it "
                    f"(`tillhouse doctor` lists the settings)."
                )

    def optional(self, name: str) -> str | None:
        """The value from a flag, the environment or the file that NAME_FILE names."""
        if (flag := self._given.get(name.lower())) is not None:
            return str(flag)
        direct = self._environ.get(PREFIX + name)
        path = self._environ.get(PREFIX + name + "_FILE")
        if direct and path:
            raise SettingError(f"Set {PREFIX}{name} or {PREFIX}{name}_FILE, not both.")
        if not path:
            return direct or None
        try:
            return Path(path).read_text(encoding="utf-8").strip() or None
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(
                f"{PREFIX}{name}_FILE names {path}, which can't be read ({error}): "
                "correct the path or its permissions."
            ) from error

    def text(self, name: str, default: str) -> str:
        """A text, never empty."""
        return self.optional(name) or default

    def passphrase(self, name: str) -> str | None:
        """A secret that a person thought of."""
        text = self.optional(name)
        if text is not None and len(text) < PASSPHRASE_LENGTH_MIN:
            raise SettingError(
                f"{PREFIX}{name} has {len(text)} characters: "
                f"give it {PASSPHRASE_LENGTH_MIN} or more."
            )
        return text

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within bounds."""
        text = self.optional(name)
        if text is None:
            return default
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise SettingError(
                f"{PREFIX}{name} is {text!r}: set it to a whole number from {least} to {most}."
            )
        return value

    def decimal(self, name: str, default: float, least: float, most: float) -> float:
        """A number within bounds."""
        text = self.optional(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise SettingError(
                f"{PREFIX}{name} is {text!r}: set it to a number from {least:g} to {most:g}."
            )
        return value

    def file(self, name: str) -> Path | None:
        """A file that can be read."""
        text = self.optional(name)
        if text is None:
            return None
        path = Path(text).expanduser()
        if not path.is_file():
            raise SettingError(f"{PREFIX}{name} names {text}, which is no file: correct the path.")
        return path

    def folder(self, name: str) -> Path | None:
        """A folder, absolute; it is made when it is needed."""
        text = self.optional(name)
        return Path(text).expanduser().absolute() if text else None

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """One of a few words."""
        value = self.text(name, default).lower()
        if value not in allowed:
            raise SettingError(f"{PREFIX}{name} is {value!r}: set it to {', '.join(allowed)}.")
        return value

    def url(self, name: str, default: str) -> str:
        """An http(s) address without a trailing slash."""
        value = self.text(name, default).rstrip("/")
        if not value.startswith(("http://", "https://")) or " " in value:
            raise SettingError(
                f"{PREFIX}{name} is {value!r}: "
                "set it to an address such as https://till.example.com."
            )
        return value

    def optional_url(self, name: str) -> str | None:
        """An http(s) address, where there is one."""
        return self.url(name, "") if self.optional(name) else None

    def socket_url(self, name: str) -> str | None:
        """A ws(s) address without a trailing slash."""
        value = (self.optional(name) or "").rstrip("/")
        if value and (not value.startswith(("ws://", "wss://")) or " " in value):
            raise SettingError(
                f"{PREFIX}{name} is {value!r}: "
                "set it to an address such as wss://media.example.com/calls."
            )
        return value or None

    def smtp_url(self, name: str) -> SmtpServer | None:
        """A mail server; its address holds a password, so no sentence repeats any of it."""
        text = self.optional(name)
        try:
            return parse_smtp_url(text) if text else None
        except ValueError as error:
            raise SettingError(f"{PREFIX}{name} {error}.") from None

    def email_address(self, name: str) -> str | None:
        """An address that mails come from."""
        text = self.optional(name)
        try:
            return email_address(text) if text else None
        except ValueError as error:
            raise SettingError(f"{PREFIX}{name} is {text!r}: it {error}.") from None

    def named_urls(self, name: str, known: Collection[str]) -> tuple[tuple[str, str], ...]:
        """Addresses by names, split by commas."""
        parts = [part.strip() for part in (self.optional(name) or "").split(",") if part.strip()]
        pairs = [part.partition("=") for part in parts]
        for part, (who, _, address) in zip(parts, pairs, strict=True):
            is_address = address.startswith(("http://", "https://")) and " " not in address
            if who not in known or not is_address:
                raise SettingError(
                    f"{PREFIX}{name} has {part!r}: write a name ({', '.join(known)}), = and an "
                    "address such as https://proxy.example.com."
                )
        return tuple((who, address.rstrip("/")) for who, _, address in pairs)

    def networks(self, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
        """Addresses or networks, split by commas."""
        text = self.optional(name) or ""
        try:
            return parse_networks([part.strip() for part in text.split(",") if part.strip()])
        except ValueError as error:
            raise SettingError(f"{PREFIX}{name}: {error}") from error

    def database_url(self) -> str | None:
        """The address of a PostgreSQL server of one's own."""
        value = self.optional("DATABASE_URL")
        if value and not value.startswith(("postgresql://", "postgres://")):
            raise SettingError(
                f"{PREFIX}DATABASE_URL must begin with postgresql:// "
                "(for example postgresql://user:password@host:5432/tillhouse)."
            )
        return value

    def data(self) -> Path:
        """The data folder, absolute."""
        value = self.optional("DATA")
        folder = Path(value).expanduser() if value else default_data_folder(self._environ)
        return folder.absolute()
