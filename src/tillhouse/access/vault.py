"""Secrets at rest: a master key wraps a root and one data key per business.

The root never leaves the process; the pepper of API keys and the key of access tokens are
derived from it. A business's data key seals its recoverable secrets, each bound to its record,
so that a sealed secret moved to another row does not open.
"""

import base64
import binascii
import os
from collections.abc import Awaitable, Callable
from uuid import UUID

from tillhouse.access.store import vault as store
from tillhouse.db.pool import Db, Pool
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.kit.secrets import SealBroken, derive, open_sealed, seal
from tillhouse.settings import SettingError

_ROOT = b"tillhouse installation root"
_REWRAP_BATCH = 100


class Vault:
    """Opens and seals with keys that only this object holds."""

    def __init__(self, masters: dict[int, bytes], root: bytes) -> None:
        self._masters = masters
        self._root = root
        self._data_keys: dict[UUID, bytes] = {}
        self.pepper = derive(root, "api key digests")

    def derive(self, purpose: str) -> bytes:
        """A key of this installation for one purpose."""
        return derive(self._root, purpose)

    @property
    def master_version(self) -> int:
        """The version of the master key that wraps new keys."""
        return max(self._masters)

    def new_data_key(self, business_id: BusinessId) -> bytes:
        """A wrapped data key for a new business."""
        return seal(self._masters[self.master_version], os.urandom(32), business_id.bytes)

    async def rewrap(self, pool: Pool, note: Callable[[Db, BusinessId], Awaitable[None]]) -> int:
        """Wrap the root and every data key under the newest master key; how many there were.

        `note` tells of each business in the transaction that changes it.
        """
        newest = self.master_version
        count = 0
        async with pool.transaction() as db:
            await store.update_root(db, newest, seal(self._masters[newest], self._root, _ROOT))
        while True:
            async with pool.transaction() as db:
                rows = await store.lock_old_data_keys(db, newest, _REWRAP_BATCH)
                for row in rows:
                    bound = row["id"].bytes
                    key = self._unwrap(row["master_version"], row["wrapped_data_key"], bound)
                    box = seal(self._masters[newest], key, bound)
                    await store.update_data_key(db, row["id"], newest, box)
                    await note(db, row["id"])
            count += len(rows)
            if len(rows) < _REWRAP_BATCH:
                return count

    async def seal(
        self, db: Db, business_id: BusinessId, record: UUID, kind: str, text: str
    ) -> bytes:
        """A secret sealed for one record of one business."""
        key = await self._data_key(db, business_id)
        return seal(key, text.encode(), _associated(business_id, record, kind))

    async def open(
        self, db: Db, business_id: BusinessId, record: UUID, kind: str, box: bytes
    ) -> str:
        """The secret of that record."""
        key = await self._data_key(db, business_id)
        return open_sealed(key, box, _associated(business_id, record, kind)).decode()

    def seal_of_person(self, user_id: UserId, kind: str, secret: bytes) -> bytes:
        """A secret sealed for a person, who may belong to several businesses."""
        return seal(self.derive(kind), secret, user_id.bytes)

    def open_of_person(self, user_id: UserId, kind: str, box: bytes) -> bytes:
        """The secret of that person."""
        return open_sealed(self.derive(kind), box, user_id.bytes)

    async def _data_key(self, db: Db, business_id: BusinessId) -> bytes:
        if business_id not in self._data_keys:
            row = await store.find_data_key(db, business_id)
            if row is None:
                raise LookupError("no such business")
            self._data_keys[business_id] = self._unwrap(
                row["master_version"], row["wrapped_data_key"], business_id.bytes
            )
        return self._data_keys[business_id]

    def _unwrap(self, version: int, wrapped: bytes, associated: bytes) -> bytes:
        return open_sealed(_master(self._masters, version), wrapped, associated)


def parse_master_key(text: str) -> dict[int, bytes]:
    """`1:<base64>,2:<base64>` (or one bare base64, then version 1) as keys by version."""
    keys: dict[int, bytes] = {}
    for part in text.split(","):
        number, _, encoded = part.strip().rpartition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
            version = int(number or "1")
        except (binascii.Error, ValueError):
            key, version = b"", 0
        if len(key) != 32 or version < 1 or version in keys:
            raise SettingError(
                "TILLHOUSE_MASTER_KEY must be base64 of 32 bytes, or `1:<base64>,2:<base64>` "
                "for several versions (make one with `openssl rand -base64 32`)."
            )
        keys[version] = key
    return keys


def new_master_key() -> str:
    """A master key for a new installation."""
    return "1:" + base64.b64encode(os.urandom(32)).decode()


async def open_vault(pool: Pool, master_key: str) -> Vault:
    """Open this installation's root, making it at the very first start."""
    masters = parse_master_key(master_key)
    newest = max(masters)
    async with pool.transaction() as db:
        await store.insert_root(db, newest, seal(masters[newest], os.urandom(32), _ROOT))
        row = await store.find_root(db)
    if row is None:
        raise LookupError("the installation's row is missing")
    try:
        root = open_sealed(_master(masters, row["master_version"]), row["wrapped_root"], _ROOT)
    except SealBroken as error:
        raise SettingError(
            "TILLHOUSE_MASTER_KEY is not the key of this database: set the one that it was "
            "made with (an embedded server keeps it in DATA/master.key)."
        ) from error
    return Vault(masters, root)


def _master(masters: dict[int, bytes], version: int) -> bytes:
    if version not in masters:
        raise SettingError(
            f"TILLHOUSE_MASTER_KEY lacks version {version}, which this database still uses: "
            f"add it in front, as `{version}:<base64>,…`."
        )
    return masters[version]


def _associated(business_id: BusinessId, record: UUID, kind: str) -> bytes:
    return b"|".join((business_id.bytes, record.bytes, kind.encode()))
