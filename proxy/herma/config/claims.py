"""How the texts about an identity provider and its people are read; `scalar` lists them with the others.

What is compared with a claim of a token is taken as it will be compared.
"""

import re

from herma.config.values import ClientName, Domain, EmailAddress, IssuerUrl, ScopeWord, Subject
from herma.policy.openid.admission import is_subject
from herma.policy.openid.email import parse_domain, parse_email
from herma.policy.openid.endpoint import is_issuer

__all__ = ["client_name", "domain", "email", "issuer", "scope_word", "subject"]

# RFC 6749 appendix A.1, without the blank, which some libraries cut off.
_CLIENT = re.compile(r"[!-~]{1,255}")
# RFC 6749 section 3.3.
_SCOPE = re.compile(r"[!#-\[\]-~]{1,255}")


def issuer(text: str) -> IssuerUrl:
    """Read an issuer, as it stands in its own description: not a character more or less."""
    if not is_issuer(text):
        raise ValueError(
            "expected the issuer as it calls itself, such as https://id.example.com/realms/x; http only at a loopback address"
        )
    if "/.well-known/" in text:
        raise ValueError(
            "found the address of the issuer's description; leave out what begins with /.well-known/"
        )
    return IssuerUrl(text)


def client_name(text: str) -> ClientName:
    """Read the client id that the issuer gave the gate."""
    if not _CLIENT.fullmatch(text):
        raise ValueError("expected the client id as the issuer shows it, without blanks")
    return ClientName(text)


def scope_word(text: str) -> ScopeWord:
    """Read one scope."""
    if not _SCOPE.fullmatch(text):
        raise ValueError("expected one scope, such as email; write several as a list")
    return ScopeWord(text)


def subject(text: str) -> Subject:
    """Read the `sub` of a person."""
    if not is_subject(text):
        raise ValueError(
            "expected a subject (`sub`) as the issuer writes it: up to 255 visible ASCII characters"
        )
    return Subject(text)


def domain(text: str) -> Domain:
    """Read the domain of e-mail addresses; sub-domains are others."""
    found = parse_domain(text)
    if found is None:
        raise ValueError(
            "expected a domain such as example.com: no @, no wildcard; write an international one as xn--…"
        )
    return Domain(found)


def email(text: str) -> EmailAddress:
    """Read one person's address."""
    found = parse_email(text)
    if found is None:
        raise ValueError("expected one address such as alice@example.com, in plain ASCII")
    return EmailAddress(str(found))
