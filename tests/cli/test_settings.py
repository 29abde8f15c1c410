"""A wrong setting stops every command with a sentence, before anything is started."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.command import Command
from tillhouse.settings import SettingError, from_env

URL = "postgresql://till@127.0.0.1:1/till"
WRONG = [
    ({"PORT": "many"}, "TILLHOUSE_PORT is 'many': set it to a whole number from 0 to 65535."),
    ({"PORT": "70000"}, "TILLHOUSE_PORT is '70000'"),
    ({"RATE_LIMIT": "-1"}, "TILLHOUSE_RATE_LIMIT is '-1'"),
    ({"RATE_BURST": "0"}, "TILLHOUSE_RATE_BURST is '0'"),
    ({"POOL_SIZE": "1"}, "TILLHOUSE_POOL_SIZE is '1'"),
    ({"LOG_LEVEL": "loud"}, "TILLHOUSE_LOG_LEVEL is 'loud': set it to debug, info"),
    ({"PUBLIC_URL": "till.example.com"}, "TILLHOUSE_PUBLIC_URL is 'till.example.com'"),
    ({"TRUSTED_PROXIES": "10.0.0.1/8"}, "TILLHOUSE_TRUSTED_PROXIES: 10.0.0.1/8 has bits beyond"),
    ({"DATABASE_URL": "mysql://x"}, "TILLHOUSE_DATABASE_URL must begin with postgresql://"),
    ({"PROVIDER_URLS": "paypal=https://x.example"}, "TILLHOUSE_PROVIDER_URLS has 'paypal=https"),
    ({"PROVIDER_URLS": "stripe=x.example"}, "TILLHOUSE_PROVIDER_URLS has 'stripe=x.example'"),
    ({"SMTP_URL": "smtp://mail.example"}, "TILLHOUSE_SMTP_URL needs TILLHOUSE_MAIL_FROM"),
    ({"SMTP_URL": "mail.example:25"}, "TILLHOUSE_SMTP_URL must be an address such as smtps://"),
    ({"SMTP_URL": "smtp://till@mail.example"}, "TILLHOUSE_SMTP_URL must have both a user and"),
    ({"SMTP_URL": "smtps://:hush@mail.example"}, "TILLHOUSE_SMTP_URL must have both a user and"),
    ({"SMTP_URL": "smtps://till:@mail.example"}, "TILLHOUSE_SMTP_URL must have both a user and"),
    ({"SMTP_URL": "smtps://:@mail.example"}, "TILLHOUSE_SMTP_URL must have both a user and"),
    ({"SMTP_URL": "smtp://a:b%0d@mail.example"}, "TILLHOUSE_SMTP_URL must have no control"),
    ({"MAIL_FROM": "till"}, "TILLHOUSE_MAIL_FROM is 'till': it must be an email address"),
    ({"COLOUR": "red"}, "TILLHOUSE_COLOUR is no setting of Tillhouse"),
    ({"PORT": "1", "PORT_FILE": "/dev/null"}, "Set TILLHOUSE_PORT or TILLHOUSE_PORT_FILE, not"),
    ({"PORT_FILE": "/nonexistent"}, "TILLHOUSE_PORT_FILE names /nonexistent, which can't be read"),
]
# These are judged by the command line, which knows how the database is run.
WRONG_TOGETHER = [
    ({"DATABASE_URL": URL}, "TILLHOUSE_DATABASE_URL needs TILLHOUSE_MASTER_KEY"),
    ({"MASTER_KEY": "1:short"}, "TILLHOUSE_MASTER_KEY must be base64 of 32 bytes"),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG)
def test_sentence(given: dict[str, str], sentence: str) -> None:
    """Each names its variable."""
    with pytest.raises(SettingError) as caught:
        from_env({f"TILLHOUSE_{name}": value for name, value in given.items()})
    assert str(caught.value).startswith(sentence)


def test_addresses_by_names() -> None:
    """Several are split by commas, and lose their last slash."""
    given = "paystack=https://a.example/, stripe=http://127.0.0.1:9"
    settings = from_env({"TILLHOUSE_PROVIDER_URLS": given})
    assert dict(settings.provider_urls) == {
        "paystack": "https://a.example",
        "stripe": "http://127.0.0.1:9",
    }
    assert from_env({}).provider_urls == ()


def test_serve_refuses(tmp_path: Path) -> None:
    """`serve` prints the sentence alone, ends with 1 and has made nothing."""
    chosen = [WRONG[0], *WRONG_TOGETHER]

    def refused(wrong: tuple[dict[str, str], str]) -> None:
        given, sentence = wrong
        said = Command(tmp_path / "data", **given).refusal("serve")
        assert json.loads(said)["message"].startswith(sentence)
        assert said.count("\n") == 1

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(refused, chosen))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtps://mail.example", ("mail.example", 465, "tls", None, None)),
        ("smtp://a%40b:p%2F%3A%25@mail.example/", ("mail.example", 587, "starttls", "a@b", "p/:%")),
        ("smtp+plain://[::1]:2525", ("::1", 2525, "none", None, None)),
    ],
)
def test_a_mail_server(url: str, server: tuple[object, ...]) -> None:
    """The scheme says how it is secured, and which port is usual; the password is printed never."""
    settings = from_env({"TILLHOUSE_SMTP_URL": url, "TILLHOUSE_MAIL_FROM": "till@shop.example"})
    found = settings.smtp_url
    assert found is not None
    assert (found.host, found.port, found.security, found.user, found.password) == server
    assert "p/:%" not in f"{settings} {settings!r}"


@pytest.mark.parametrize("url", ["smtp://till:hush/hush@mail.example", "smtps://till:hush@[x"])
def test_a_wrong_mail_server_tells_no_password(url: str) -> None:
    """Its sentence repeats nothing of the address."""
    with pytest.raises(SettingError) as caught:
        from_env({"TILLHOUSE_SMTP_URL": url, "TILLHOUSE_MAIL_FROM": "till@shop.example"})
    assert "hush" not in str(caught.value)
    assert "%2F" in str(caught.value) or "%3A" in str(caught.value)
