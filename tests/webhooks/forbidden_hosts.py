"""Hosts that no webhook may go to, in every spelling that somebody might try."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_network


def words(text: str) -> list[str]:
    """A table without the quotes."""
    return text.split()


# The special ranges of IANA's registries; the first and the last address of each.
SPECIAL_4 = words(
    """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
    198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
    100.100.100.200/32
    """
)

SPECIAL_6 = words(
    """
    ::/128 ::1/128 ::/8 64:ff9b:1::/48 100::/64 100:0:0:1::/64 200::/7 400::/6 1000::/4 2001::/23
    2001::/32 2001:1::1/128 2001:1::2/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28
    2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 4000::/3
    5f00::/16 6000::/3 8000::/3 a000::/3 c000::/3 e000::/4 f000::/5 f800::/6 fc00::/7 fd00::/8
    fd00:ec2::254/128 fe00::/9 fe80::/10 fec0::/10 ff00::/8 ff02::1/128
    """
)

INNER = words(
    """
    0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.168.1.1 224.0.0.1
    """
)

# Spellings that old parsers take for 127.0.0.1, 169.254.169.254 or 10.0.0.1.
ODD_4 = words(
    """
    2130706433 017700000001 0x7f000001 0X7F000001 0x7f.0x0.0x0.0x1 0177.0.0.1 0177.0.0.01
    127.1 127.0.1 0x7f.1 0177.1 127.0.0.1. 127.0.0.01 127.000.000.001 127.0.0.0x1 0x7F.0.0.01
    00000177.0.0.1 0x0000007f.1 127.65535 127.16777215 1.127.0.0.1 127.0.0.1.1 127..1 0 0.0 00
    2852039166 0xa9fea9fe 025177524776 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 169.254.43518
    169.16689662 0251.254.169.254 0xa9.254.0251.254 169.254.169.254. 4294967295 4294967296
    167772161 0xa000001 01200000001 10.1 10.0.1 012.1 0xa.1 012.0x1 256.256.256.256 1.2.3.4.5
    999.999.999.999 127.0.0.-1 127.0.0.1e0
    """
)

NAMES = words(
    """
    localhost LOCALHOST LocalHost localhost. localhost.. foo.localhost a.b.localhost foo.localhost.
    localhost.localdomain localhost6 localhost6.localdomain6 ip6-localhost ip6-loopback
    metadata metadata.google.internal METADATA.GOOGLE.INTERNAL metadata.google.internal.
    instance-data instance-data.ec2.internal host.docker.internal gateway.docker.internal
    kubernetes kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local
    printer.local router.lan intranet wiki.intranet gateway.home.arpa postgres db redis internal
    """
)
# Names of no public top-level domain, which only a private name server would know.
_UNKNOWN = {"localhost6.localdomain6", "kubernetes.default"}

# Whole addresses whose host is not what it seems, or has a zone.
TRICKS = [
    "https://198.41.0.4@127.0.0.1/", "https://127.0.0.1@198.41.0.4/", "https://a:b@127.0.0.1/",
    "https://198.41.0.4%40127.0.0.1/", "https://198.41.0.4\\@127.0.0.1/",
    "https://198.41.0.4%2f@127.0.0.1/", "https://127.0.0.1%2f.example.com/",
    "https://127.0.0.1%00.example.com/", "https://127.0.0.1\t.example.com/",
    "https://127.0.0.1\n/", "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/",
    "https://[::1%251]/", "https://[::1%lo]/", "https://[fe80::1%25]/",
    "https://[::ffff:7f00:1%1]/",
    "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://ⓛocalhost/", "https://loc\u00adalhost/",
    "https:127.0.0.1/", "https:///127.0.0.1/", "https://[127.0.0.1]/", "https://[::1]]/",
    "https://[::1]:0/", "https://::1/", "https://[::127.0.0.1.]/", "https://[v1.127.0.0.1]/",
]  # fmt: skip


def _ends(ranges: list[str]) -> Iterator[str]:
    for text in ranges:
        network = ip_network(text)
        yield str(network[0])
        yield str(network[-1])


def transition_forms(inner: str) -> list[str]:
    """IPv6 addresses that lead, or once led, to an IPv4 address."""
    number = int(IPv4Address(inner))
    high, low = number >> 16, number & 0xFFFF
    flipped = number ^ 0xFFFFFFFF
    return [
        f"::ffff:{inner}",
        f"::ffff:{high:x}:{low:x}",
        f"0:0:0:0:0:ffff:{high:04x}:{low:04x}",
        f"::ffff:0:{inner}",
        f"64:ff9b::{inner}",
        f"64:ff9b::{high:x}:{low:x}",
        f"64:ff9b:1::{inner}",
        f"::{inner}",
        f"2002:{high:x}:{low:x}::1",
        f"2001:0:{high:x}:{low:x}::",
        f"2001:0:4136:e378:8000:63bf:{flipped >> 16:x}:{flipped & 0xFFFF:x}",
        f"2606:4700::5efe:{inner}",
        f"2606:4700::200:5efe:{inner}",
    ]


def literals() -> list[str]:
    """Hosts that are addresses in their proper spelling, as a URL has them."""
    four = list(dict.fromkeys(_ends(SPECIAL_4)))
    six = [*_ends(SPECIAL_6), *(form for inner in INNER for form in transition_forms(inner))]
    long = [IPv6Address(text).exploded.upper() for text in ("::1", "fe80::1", "fd00::1")]
    return [*four, *(f"[{text}]" for text in dict.fromkeys([*six, *long]))]


def names() -> list[str]:
    """Hosts that are names."""
    return [name for name in NAMES if name not in _UNKNOWN]


def urls() -> list[str]:
    """All of them, as addresses of endpoints."""
    return [*(f"https://{host}/" for host in (*literals(), *ODD_4, *names())), *TRICKS]
