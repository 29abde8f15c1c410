"""A certificate authority of the tests, and the server contexts that it vouches for, or not."""

import datetime
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


class Authority:
    """Issues certificates; the application under test trusts its file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = _issue("Tillhouse test authority", self._key, None, None, (), _DAY)
        self.ca_file = folder / "ca.pem"
        self.ca_file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def server(
        self,
        names: Sequence[str] = ("127.0.0.1", "localhost"),
        *,
        lasts: datetime.timedelta = _DAY,
        is_self_signed: bool = False,
    ) -> ssl.SSLContext:
        """A server's context with a certificate for these names."""
        return server_context(self.pem(names, lasts=lasts, is_self_signed=is_self_signed))

    def pem(
        self,
        names: Sequence[str] = ("127.0.0.1", "localhost"),
        *,
        lasts: datetime.timedelta = _DAY,
        is_self_signed: bool = False,
    ) -> Path:
        """A file with a key and a certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        signer = (None, None) if is_self_signed else (self._certificate, self._key)
        certificate = _issue(names[0], key, *signer, names, lasts)
        self._count += 1
        pem = self._folder / f"server-{self._count}.pem"
        pem.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return pem


def server_context(pem: Path) -> ssl.SSLContext:
    """A server's context with the key and certificate of a file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


def _issue(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey | None,
    names: Sequence[str],
    lasts: datetime.timedelta,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    signer = issuer_key or key
    extensions: list[tuple[Any, bool]] = [
        (x509.BasicConstraints(ca=not names, path_length=None), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False),
    ]
    if names:
        extensions.append((x509.SubjectAlternativeName([_name(text) for text in names]), False))
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 3 * _DAY)
        .not_valid_after(now + lasts)
    )
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    return builder.sign(signer, hashes.SHA256())


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)
