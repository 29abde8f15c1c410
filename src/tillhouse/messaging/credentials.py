"""The credentials of a WhatsApp number, sealed with the vault."""

import msgspec
from asyncpg import Record

from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, NumberId

_KIND = "whatsapp credentials"


class NumberSecrets(msgspec.Struct, frozen=True):
    """The secrets of one number."""

    access_token: str
    app_secret: str
    verify_token: str

    def __repr__(self) -> str:
        """Keep the secrets out of logs and tracebacks."""
        return "Credentials(…)"


async def seal(
    vault: Vault, db: Db, business_id: BusinessId, number_id: NumberId, secrets: NumberSecrets
) -> bytes:
    """The secrets, closed for this one number."""
    text = msgspec.json.encode(secrets).decode()
    return await vault.seal(db, BusinessId(business_id), number_id, _KIND, text)


async def opened(vault: Vault, db: Db, row: Record) -> NumberSecrets:
    """The secrets of a row with id, business_id and credentials_sealed."""
    text = await vault.open(db, row["business_id"], row["id"], _KIND, row["credentials_sealed"])
    return msgspec.json.decode(text, type=NumberSecrets)
