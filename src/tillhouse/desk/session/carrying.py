"""Forms carried along while somebody signs in, or proves the password, before they are sent on.

Secrets that were typed into one are sealed: no page holds them, and none has to be typed twice.
"""

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tillhouse.access.vault import Vault
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.page import PageRequest
from tillhouse.desk.session.forms import CARRIED_SECRETS, MADE_FOR, OWN, Form
from tillhouse.kit.errors import Conflict
from tillhouse.kit.secrets import SealBroken, open_sealed, seal

_LASTS = timedelta(minutes=10)
_PURPOSE = "secrets of forms that are carried along"
Fields = Sequence[tuple[str, str]]


class _Secrets(msgspec.Struct, frozen=True):
    fields: list[tuple[str, str]]
    good_until: datetime


def write(vault: Vault, secrets: Fields, form: str, now: datetime) -> str:
    """Secrets as the form that they are of carries them: they fit into no other."""
    raw = msgspec.json.encode(_Secrets(list(secrets), now + _LASTS))
    return base64.urlsafe_b64encode(seal(vault.derive(_PURPOSE), raw, form.encode())).decode()


def read(vault: Vault, text: str, form: str, now: datetime) -> Fields | None:
    """The secrets that a form carries; None when they are of another one, or too old."""
    try:
        box = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        raw = open_sealed(vault.derive(_PURPOSE), box, form.encode())
    except (ValueError, binascii.Error, SealBroken):
        return None
    secrets = msgspec.json.decode(raw, type=_Secrets)
    return secrets.fields if now < secrets.good_until else None


def carried(page: PageRequest) -> Fields:
    """The fields of the page's own form, to be sent once more."""
    own = [field for field in page.form.pairs if field[0] not in OWN]
    secrets = [(name, value) for name, value in own if value and name in page.form.secret_names]
    if not secrets:
        return own
    plain = [field for field in own if field not in secrets]
    text = write(page.services.vault, secrets, _form(page), page.request.now)
    return [*plain, (CARRIED_SECRETS, text)]


def with_secrets(page: PageRequest) -> Form:
    """The form with the secrets that were carried along, or a refusal to send it without them."""
    fields = [field for field in page.form.pairs if field[0] != CARRIED_SECRETS]
    names = set(page.form.secret_names)
    for text in page.form.all(CARRIED_SECRETS):
        secrets = read(page.services.vault, text, _form(page), page.request.now)
        if secrets is None:
            raise Conflict(sentence("refusal.secrets_over"))
        fields += secrets
        names |= {name for name, _ in secrets}
    return Form(fields, frozenset(names))


def _form(page: PageRequest) -> str:
    return f"{page.action} {page.form.get(MADE_FOR, '')}"
