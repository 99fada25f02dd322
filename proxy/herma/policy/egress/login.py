"""What a program says of itself to get a token, and what signs one request: judged by what it is, not by its name.

Anybody may run a server of tokens (RFC 6749 section 2.3.1 has the secret in the body), so such a field goes to strangers. Its name
alone would make a secret of every value there; whoever wants to steal one calls it otherwise. A value of a watched file, or one that
is told by its own shape, is refused in them as anywhere.
"""

import re
from typing import Final

from herma.policy.egress.divided import form_of
from herma.policy.egress.platform import InUse
from herma.policy.egress.service import FORM, Apart, kept_apart

__all__ = ["MAX_LOGIN_BYTES", "SCOPE", "SIGNED", "login_apart", "signed_apart"]

# What proves that somebody allowed one request (AWS Signature Version 2 and 4, their likes, and SAS of Azure).
_SIGNATURES: Final = InUse(
    (
        "/X-Amz-Signature",
        "/X-Amz-Credential",
        "/X-Amz-Security-Token",
        "/X-Goog-Signature",
        "/X-Goog-Credential",
        "/AWSAccessKeyId",
        "/Signature",
        "/Key-Pair-Id",
        "/sig",
        # The public half of a key of Sentry: it only lets in reports.
        "/sentry_key",
    )
)
# The name of a key, and for what it is used there: no secret.
SCOPE: Final = re.compile(rb"A[A-Z2-7]{19}(?:/[0-9]{8}/[a-z0-9-]{2,20}/[a-z0-9-]{2,20}/aws4_request)?")
# A token for the one that it is shown to (RFC 7523): in a field for credentials, any of them goes to a stranger, too.
SIGNED: Final = re.compile(rb"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")

# RFC 6749, 7521, 7636, 8628 and 8693; passwords of interfaces and forms, and the roles of Vault.
_LOGIN: Final = InUse(
    (
        "/client_secret",
        "/refresh_token",
        "/code",
        "/code_verifier",
        "/device_code",
        "/client_assertion",
        "/assertion",
        "/subject_token",
        "/password",
        "/secret_id",
        "/otp",
        "/csrf_token",
        "/authenticity_token",
        "/csrfmiddlewaretoken",
    )
)
# Who logs in says little; a file of settings or the state of a program is larger.
MAX_LOGIN_BYTES: Final = 8 * 1024


def signed_apart(query: bytes) -> Apart:
    """Take what signs one request out of a query."""
    return kept_apart(query, FORM, (_SIGNATURES,))


def login_apart(body: bytes, content_type: bytes) -> Apart:
    """Take what a program logs in with out of a small form or a small JSON; anything else stays whole."""
    kind = form_of(content_type)
    if len(body) > MAX_LOGIN_BYTES or (kind != FORM and not kind.endswith(b"json")):
        return Apart(body)
    return kept_apart(body, content_type, (_LOGIN,))
