"""Marks of an account at a provider: by them a later call knows whether it asks the same one.

They tell no secret. The account is the same where the provider calls it the same, or where the
secret that names it is the same; where neither is known, it counts as another.
"""

import hashlib
from collections.abc import Sequence

from tillhouse.access.vault import Vault
from tillhouse.kit.secrets import digest
from tillhouse.providers.payments.provider import PaymentProvider, ProviderSecrets

_PURPOSE = "payment provider accounts"


def account_mark(
    vault: Vault, provider: PaymentProvider, credentials: ProviderSecrets, account_id: str
) -> bytes:
    """The mark of an account by the provider's own name of it.

    A provider may call an account the same for tests, where nothing is known of its real money.
    """
    is_test = credentials.key.lower().startswith(tuple(provider.test_prefixes))
    return _digest(vault, f"{'test' if is_test else 'live'} account {account_id}")


def marks(vault: Vault, credentials: ProviderSecrets, account: bytes | None) -> Sequence[bytes]:
    """The marks of a connection's account; a call leaves the first. None: no name is known."""
    of_key = _digest(vault, f"key {credentials.key}")
    # Calls that were under way when the digests got their key have left this one.
    bare = hashlib.sha256(credentials.key.encode()).digest()
    return (*(() if account is None else (account,)), of_key, bare)


def _digest(vault: Vault, text: str) -> bytes:
    return digest(vault.derive(_PURPOSE), text)
