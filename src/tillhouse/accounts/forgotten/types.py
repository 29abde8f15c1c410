"""Requests and answers of the routes of a forgotten password."""

import msgspec

from tillhouse.kit.values import Email, NewPassword


class ForgottenPassword(msgspec.Struct, forbid_unknown_fields=True):
    """The address of a person who forgot the password."""

    email: Email


class PasswordByLink(msgspec.Struct, forbid_unknown_fields=True):
    """Another password, by a link that was mailed."""

    token: str
    """The token of the link: what stands behind the last `/` of its address."""
    new_password: NewPassword
    """The password to log in with from now on."""


class PasswordLink(msgspec.Struct, forbid_unknown_fields=True):
    """A link that sets another password, to be looked at."""

    token: str
    """The token of the link: what stands behind the last `/` of its address."""


class PasswordLinkPreview(msgspec.Struct, frozen=True, rename="camel"):
    """The account that a link sets another password of."""

    email: str
    """The address to log in with."""


class LinkRequested(msgspec.Struct, frozen=True, rename="camel"):
    """The answer for every address, with an account or without one."""

    is_mailed: bool
    """Whether this server sends mails at all; where it doesn't, its operator prints a link."""
