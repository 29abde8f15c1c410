"""Settings: one frozen struct, read from the environment once and passed down.

Each setting has its meaning here; `tillhouse doctor` and the documentation print this table.
A wrong value stops the start with a sentence that names the variable and the mend.
"""

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any

import msgspec

from tillhouse.kit.smtp import SmtpServer
from tillhouse.settings.reading import PASSPHRASE_LENGTH_MIN, PREFIX, SettingError, Values

__all__ = [
    "MEANINGS", "PASSPHRASE_LENGTH_MIN", "PREFIX", "SettingError", "Settings", "from_env",
]  # fmt: skip

_PROVIDERS = ("paystack", "flutterwave", "monnify", "stripe", "twilio")
LOG_LEVELS = ("debug", "info", "warning", "error")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that may differ between two installations."""

    database_url: str | None = None
    database_wait_s: int = 0
    data: Path
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str
    master_key: str | None = None
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    rate_limit: int = 100
    rate_burst: int = 200
    registration_limit: int = 20
    order_limit: int = 0
    order_limit_mib: int = 0
    attachment_limit: int = 0
    attachment_limit_mib: int = 0
    message_limit: int = 0
    message_limit_mib: int = 0
    message_retention_days: int = 0
    answer_limit: int = 0
    answer_limit_mib: int = 0
    trial_days: int = 0
    log_level: str = "info"
    webhook_retry_base_s: float = 5.0
    webhook_retry_factor: float = 5.0
    webhook_allow_targets: tuple[IPv4Network | IPv6Network, ...] = ()
    webhook_ca_file: Path | None = None
    webhook_lease_s: float = 30.0
    webhook_rate: int = 1000
    webhook_retention_days: int = 90
    backup_passphrase: str | None = None
    backup_folder: Path | None = None
    backup_every_hours: int = 0
    backup_keep: int = 7
    smtp_url: SmtpServer | None = None
    mail_from: str | None = None
    whatsapp_url: str = "https://graph.facebook.com/v23.0"
    # By the names of providers: addresses other than their own.
    provider_urls: tuple[tuple[str, str], ...] = ()
    payout_cooling_off_hours: int = 24
    payout_failures_max: int = 5
    recording_retention_days: int = 90
    model_allow_targets: tuple[IPv4Network | IPv6Network, ...] = ()
    speaking_url: str | None = None
    speaking_key: str | None = None
    speaking_model: str = "tts-1"
    speaking_voice: str = "alloy"
    hearing_url: str | None = None
    hearing_key: str | None = None
    hearing_model: str = "whisper-1"
    calls_per_day_max: int = 10_000
    voice_allow_targets: tuple[IPv4Network | IPv6Network, ...] = ()
    media_port: int = 8010
    media_url: str | None = None
    pool_size: int = 16
    # The cost of hashing a password, and of guessing it; no environment makes it cheaper.
    # OWASP's floor for argon2id with one thread.
    password_memory_kib: int = 19 * 1024
    password_passes: int = 2


# name → its meaning; the order is the order of `doctor` and of docs/operating.md.
MEANINGS: dict[str, str] = {
    "DATABASE_URL": "PostgreSQL 15 or newer; without it an embedded server runs in DATA",
    "DATABASE_WAIT_S": "seconds for which `serve` waits at its start for a database that is away "
    "(0 = it ends at once)",
    "DATA": "folder of the embedded database and its master key",
    "HOST": "address to listen on (127.0.0.1)",
    "PORT": "port to listen on (8000)",
    "PUBLIC_URL": "address that users see, for links (http://HOST:PORT)",
    "MASTER_KEY": "seals every secret; `N:<base64 of 32 bytes>`, several split by commas; "
    "made and kept in DATA when the database is embedded",
    "TRUSTED_PROXIES": "addresses or networks whose X-Forwarded-For counts, split by commas",
    "RATE_LIMIT": "requests per second and API key (100), 0 = off",
    "RATE_BURST": "requests that may come at once (twice RATE_LIMIT)",
    "REGISTRATION_LIMIT": "registrations per hour from one network (20), 0 = off",
    "ORDER_LIMIT": "orders that an environment of a business may hold (0 = any number)",
    "ORDER_LIMIT_MIB": "MiB that the rows of these orders may take (0 = any number)",
    "ATTACHMENT_LIMIT": "attachments that an environment of a business may hold (0 = any number)",
    "ATTACHMENT_LIMIT_MIB": "MiB that these attachments may take (0 = any number)",
    "MESSAGE_LIMIT": "messages that an environment of a business may hold (0 = any number)",
    "MESSAGE_LIMIT_MIB": "MiB that the rows of these messages may take (0 = any number)",
    "MESSAGE_RETENTION_DAYS": "days for which messages are kept, with their attachments, and then "
    "conversations without any (0 = as long as the business is)",
    "ANSWER_LIMIT": "kept answers of Idempotency-Keys that an environment of a business may have "
    "(0 = any number)",
    "ANSWER_LIMIT_MIB": "MiB that these answers may take (0 = any number)",
    "TRIAL_DAYS": "days of trial that a new business starts with; 0 (the default) = none, it "
    "starts with an active subscription",
    "WEBHOOK_RETRY_BASE_S": "seconds to the first retry of a webhook (5)",
    "WEBHOOK_RETRY_FACTOR": "how many times longer each next retry waits (5)",
    "WEBHOOK_ALLOW_TARGETS": "addresses or networks, private ones too, that webhooks may go to; "
    "for development and tests",
    "WEBHOOK_CA_FILE": "certificates (PEM) that receivers, servers of models and the mail "
    "server may have besides the public ones",
    "WEBHOOK_LEASE_S": "how long a sender may hold a delivery before another takes it (30); "
    "longer than the 10 seconds of an attempt, or some are sent twice",
    "WEBHOOK_RATE": "webhooks a second that `serve` begins at most (1000); 0 = no limit",
    "WEBHOOK_RETENTION_DAYS": "how long events and deliveries are kept (90)",
    "BACKUP_PASSPHRASE": "opens the files of `tillhouse backup`, 12 characters or more; "
    "who has lost it has lost them",
    "BACKUP_FOLDER": "folder of the backups that Tillhouse makes by itself (DATA/backups)",
    "BACKUP_EVERY_HOURS": "hours from one backup to the next (0 = none by itself)",
    "BACKUP_KEEP": "how many of them are kept, and how many of those before migrations (7)",
    "SMTP_URL": "mail server that notices go by, such as smtps://user:password@mail.example.com; "
    "smtp:// asks for STARTTLS, smtp+plain:// for no TLS",
    "MAIL_FROM": "address that these mails come from",
    "WHATSAPP_URL": "WhatsApp's Cloud API with its version (https://graph.facebook.com/v23.0)",
    "PROVIDER_URLS": "other addresses of payment providers and of Twilio, such as "
    "`paystack=https://proxy.example.com`, split by commas",
    "PAYOUT_COOLING_OFF_HOURS": "hours until a new payout account of a live environment takes "
    "withdrawals (24)",
    "PAYOUT_FAILURES_MAX": "withdrawals that fail one after another until all are frozen (5)",
    "RECORDING_RETENTION_DAYS": "how long recordings of calls are kept (90)",
    "MODEL_ALLOW_TARGETS": "addresses or networks, private ones too, at which agents may have "
    "their language models; http:// is allowed there, too",
    "SPEAKING_URL": "engine that speaks in calls by OpenAI's API, up to its version, such as "
    "https://api.openai.com/v1; espeak-ng, where it is installed, is asked after it",
    "SPEAKING_KEY": "its key",
    "SPEAKING_MODEL": "its model (tts-1)",
    "SPEAKING_VOICE": "its voice (alloy)",
    "HEARING_URL": "engine that hears in calls by OpenAI's API; pocketsphinx, where it is "
    "installed, is asked after it; without both, customers answer by keys",
    "HEARING_KEY": "its key",
    "HEARING_MODEL": "its model (whisper-1)",
    "CALLS_PER_DAY_MAX": "calls that an environment of a business may place for one day at most "
    "(10000); each sets its own bound below it",
    "VOICE_ALLOW_TARGETS": "addresses or networks, private ones too, that calls by SIP may go to; "
    "for development, tests, and telephones in a network of your own",
    "MEDIA_PORT": "port for the sound of calls by Twilio (8010), opened for the first such call",
    "MEDIA_URL": "public address (wss://) that a proxy leads to MEDIA_PORT; without it numbers at "
    "Twilio make no calls",
    "LOG_LEVEL": "debug, info, warning or error (info)",
    "POOL_SIZE": "database connections per process (16)",
}


def from_env(environ: Mapping[str, str], **given: object) -> Settings:
    """Read the settings; `given` (command-line flags) win over the environment."""
    values = Values(environ, {k: v for k, v in given.items() if v is not None})
    values.refuse_unknown(MEANINGS)
    host = values.text("HOST", "127.0.0.1")
    port = values.number("PORT", 8000, 0, 65535)
    rate = values.number("RATE_LIMIT", 100, 0, 1_000_000)
    return Settings(
        database_url=values.database_url(),
        database_wait_s=values.number("DATABASE_WAIT_S", 0, 0, 86_400),
        data=values.data(),
        host=host,
        port=port,
        public_url=values.url("PUBLIC_URL", f"http://{_in_url(host)}:{port}"),
        master_key=values.optional("MASTER_KEY"),
        trusted_proxies=values.networks("TRUSTED_PROXIES"),
        rate_limit=rate,
        rate_burst=values.number("RATE_BURST", max(1, 2 * rate), 1, 2_000_000),
        registration_limit=values.number("REGISTRATION_LIMIT", 20, 0, 1_000_000),
        order_limit=values.number("ORDER_LIMIT", 0, 0, 10**12),
        order_limit_mib=values.number("ORDER_LIMIT_MIB", 0, 0, 10**9),
        attachment_limit=values.number("ATTACHMENT_LIMIT", 0, 0, 10**9),
        attachment_limit_mib=values.number("ATTACHMENT_LIMIT_MIB", 0, 0, 10**9),
        message_limit=values.number("MESSAGE_LIMIT", 0, 0, 10**12),
        message_limit_mib=values.number("MESSAGE_LIMIT_MIB", 0, 0, 10**9),
        message_retention_days=values.number("MESSAGE_RETENTION_DAYS", 0, 0, 36_500),
        answer_limit=values.number("ANSWER_LIMIT", 0, 0, 10**12),
        answer_limit_mib=values.number("ANSWER_LIMIT_MIB", 0, 0, 10**9),
        trial_days=values.number("TRIAL_DAYS", 0, 0, 3650),
        webhook_retry_base_s=values.decimal("WEBHOOK_RETRY_BASE_S", 5.0, 0.01, 3600.0),
        webhook_retry_factor=values.decimal("WEBHOOK_RETRY_FACTOR", 5.0, 1.0, 100.0),
        webhook_allow_targets=values.networks("WEBHOOK_ALLOW_TARGETS"),
        webhook_ca_file=values.file("WEBHOOK_CA_FILE"),
        webhook_lease_s=values.decimal("WEBHOOK_LEASE_S", 30.0, 0.5, 600.0),
        webhook_rate=values.number("WEBHOOK_RATE", 1000, 0, 1_000_000),
        webhook_retention_days=values.number("WEBHOOK_RETENTION_DAYS", 90, 1, 3650),
        backup_passphrase=values.passphrase("BACKUP_PASSPHRASE"),
        backup_folder=values.folder("BACKUP_FOLDER"),
        backup_every_hours=values.number("BACKUP_EVERY_HOURS", 0, 0, 8760),
        backup_keep=values.number("BACKUP_KEEP", 7, 1, 1000),
        **_of_mail(values),
        whatsapp_url=values.url("WHATSAPP_URL", "https://graph.facebook.com/v23.0"),
        provider_urls=values.named_urls("PROVIDER_URLS", _PROVIDERS),
        payout_cooling_off_hours=values.number("PAYOUT_COOLING_OFF_HOURS", 24, 0, 720),
        payout_failures_max=values.number("PAYOUT_FAILURES_MAX", 5, 1, 1000),
        **_of_calls(values),
        log_level=values.choice("LOG_LEVEL", "info", LOG_LEVELS),
        pool_size=values.number("POOL_SIZE", 16, 2, 500),
    )


def _of_mail(values: Values) -> dict[str, Any]:
    server, sender = values.smtp_url("SMTP_URL"), values.email_address("MAIL_FROM")
    if server is not None and sender is None:
        raise SettingError(f"{PREFIX}SMTP_URL needs {PREFIX}MAIL_FROM: the address to send from.")
    return {"smtp_url": server, "mail_from": sender}


def _of_calls(values: Values) -> dict[str, Any]:
    return {
        "recording_retention_days": values.number("RECORDING_RETENTION_DAYS", 90, 1, 3650),
        "model_allow_targets": values.networks("MODEL_ALLOW_TARGETS"),
        "speaking_url": values.optional_url("SPEAKING_URL"),
        "speaking_key": values.optional("SPEAKING_KEY"),
        "speaking_model": values.text("SPEAKING_MODEL", "tts-1"),
        "speaking_voice": values.text("SPEAKING_VOICE", "alloy"),
        "hearing_url": values.optional_url("HEARING_URL"),
        "hearing_key": values.optional("HEARING_KEY"),
        "hearing_model": values.text("HEARING_MODEL", "whisper-1"),
        "calls_per_day_max": values.number("CALLS_PER_DAY_MAX", 10_000, 0, 1_000_000),
        "voice_allow_targets": values.networks("VOICE_ALLOW_TARGETS"),
        "media_port": values.number("MEDIA_PORT", 8010, 1, 65535),
        "media_url": values.socket_url("MEDIA_URL"),
    }


def _in_url(host: str) -> str:
    """How a listening address is reached: a wildcard by loopback, an IPv6 one in brackets."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
