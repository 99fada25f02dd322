"""Header names and what the gate does with them: tables of data, with the reason beside each family.

All names are lower case.
"""

import functools
import re

__all__ = [
    "CREDENTIAL_HEADERS",
    "HOP_BY_HOP",
    "TOKEN",
    "is_protected",
    "is_singleton",
    "is_stripped",
    "names_somebody",
]

# RFC 9110 section 5.6.2.
TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

# RFC 9110 section 7.6.1, and the older names that still travel: they concern one connection only.
HOP_BY_HOP = frozenset({
    b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
    b"http2-settings",  # h2c: an upgrade the gate does not see into (smuggling)
})  # fmt: skip

# Other names under which SDKs send a key. Only `Authorization` opens the gate; the upstream sees none of them.
CREDENTIAL_HEADERS = frozenset({
    b"x-api-key", b"api-key", b"apikey", b"x-goog-api-key", b"x-api-token", b"x-auth-token", b"x-access-token",
})  # fmt: skip

# Never forwarded upstream. The upstream, or something between it and us, could believe them.
_STRIPPED = CREDENTIAL_HEADERS | frozenset({
    # who is asking: only the gate says that
    b"remote-user", b"remote-groups", b"remote-email", b"remote-name", b"x-email", b"x-groups", b"x-role", b"x-roles",
    b"x-scopes", b"x-authenticated-user", b"x-authenticated-userid", b"x-webauth-user", b"x-pomerium-jwt-assertion",
    b"x-goog-authenticated-user-email", b"x-goog-authenticated-user-id", b"x-goog-iap-jwt-assertion",
    b"cf-access-jwt-assertion", b"cf-access-authenticated-user-email", b"x-client-cert", b"x-ssl-client-cert",
    b"ssl-client-cert", b"x-client-verify", b"x-ssl-client-verify", b"x-ssl-client-dn",
    # from where: only the gate says that
    b"forwarded", b"true-client-ip", b"client-ip", b"x-client-ip", b"x-cluster-client-ip", b"x-remote-ip",
    b"x-remote-addr", b"x-originating-ip", b"fastly-client-ip", b"fly-client-ip", b"x-azure-clientip",
    b"x-azure-socketip", b"x-appengine-user-ip", b"x-proxyuser-ip", b"wl-proxy-client-ip", b"via", b"x-host",
    b"x-scheme", b"x-url-scheme", b"front-end-https", b"x-server-name",
    # what is asked: another path, query or method than the one that was judged
    b"x-rewrite-url", b"x-http-method", b"x-http-method-override", b"x-method-override", b"x-script-name",
    b"x-path-info", b"script-name", b"x-request-uri", b"x-waws-unencoded-url", b"destination",
    # CORS belongs to the gate: 0.19.0 of the upstream refuses any request that carries an Origin
    b"origin", b"access-control-request-method", b"access-control-request-headers",
    b"access-control-request-private-network",
})  # fmt: skip
_STRIPPED_PREFIXES = (
    b"x-forwarded", b"x-real-", b"cf-connecting-", b"cf-ipcountry", b"cf-pseudo-",
    b"x-original-", b"x-rewrite-", b"x-envoy-", b"x-accel-", b"x-sendfile", b"x-lighttpd-",
    b"x-remote-user", b"x-remote-group", b"x-remote-email", b"x-remote-name",
    b"x-user", b"x-auth-request-", b"x-authentik-", b"x-vouch-", b"x-herma-",
    b"tailscale-user-", b"x-ms-client-principal", b"x-amzn-oidc-", b"x-amzn-mtls-", b"x-tailscale-",
    b"proxy-",
)  # fmt: skip

# Every proxy has its own spelling of who is asking. Any `X-` name with one of these words in it is taken for one of them.
_IDENTITY = frozenset({
    b"account", b"admin", b"assertion", b"auth", b"authenticated", b"authentication", b"authorization", b"cert",
    b"certificate", b"claims", b"dn", b"email", b"group", b"groups", b"identity", b"impersonate", b"jwt", b"login", b"mail",
    b"oidc", b"permissions", b"principal", b"role", b"roles", b"saml", b"scope", b"scopes", b"sso", b"sub", b"subject",
    b"tenant", b"token", b"uid", b"user", b"userid", b"userinfo", b"username", b"users", b"webauth",
})  # fmt: skip
# Whose names are not about identity at the gate: the upstream's own, and those of the SDKs.
_PASSED_PREFIXES = (b"x-hermes-", b"x-stainless-")

# More than one of these has no single meaning: parsers disagree on the first, the last or the joined value.
_SINGLETONS = CREDENTIAL_HEADERS | frozenset({
    b"host", b"authorization", b"content-length", b"content-type", b"content-encoding", b"transfer-encoding",
    b"origin", b"cookie", b"expect", b"upgrade", b"idempotency-key", b"range", b"last-event-id", b"http2-settings",
    b"sec-fetch-site", b"sec-fetch-mode", b"access-control-request-method", b"sec-websocket-key",
    b"sec-websocket-version", b"proxy-authorization", b"x-request-id",
})  # fmt: skip

# A client may name its own hop-by-hop headers in `Connection`, but never one that the gate sets, reads or removes.
_PROTECTED = frozenset({
    b"host", b"authorization", b"content-length", b"content-type", b"content-encoding", b"transfer-encoding", b"cookie",
    b"origin", b"expect", b"idempotency-key", b"range", b"last-event-id", b"accept-encoding", b"x-request-id", b"date",
    b"cache-control",
})  # fmt: skip
_OWN_PREFIX = b"x-hermes-"
# Stripped names that honest clients do put into `Connection` (old libcurl, proxies).
_HARMLESS = frozenset({b"proxy-connection", b"proxy-authorization", b"proxy-authenticate"})


# Names repeat from request to request; at their longest these entries take 8 MiB.
@functools.lru_cache(maxsize=256)
def is_stripped(name: bytes) -> bool:
    """Tell whether a client's header of this name must never reach the upstream (nor come back from it)."""
    if name in _STRIPPED or name.startswith(_STRIPPED_PREFIXES):
        return True
    return (
        name.startswith(b"x-")
        and not name.startswith(_PASSED_PREFIXES)
        and not _IDENTITY.isdisjoint(name.split(b"-"))
    )


def names_somebody(name: bytes) -> bool:
    """Tell whether a proxy may say in a header of this name who is asking: it never reaches the upstream, and is no credential."""
    said = name.startswith(b"x-herma-") or not _IDENTITY.isdisjoint(name.split(b"-"))
    return said and is_stripped(name) and name not in CREDENTIAL_HEADERS and not name.startswith(b"proxy-")


def is_singleton(name: bytes) -> bool:
    """Tell whether a request may carry this header at most once."""
    return name in _SINGLETONS or name.startswith(_OWN_PREFIX)


def is_protected(name: bytes) -> bool:
    """Tell whether `Connection` may not name this header."""
    if name in _HARMLESS:
        return False
    return name in _PROTECTED or name.startswith((_OWN_PREFIX, b"sec-")) or is_stripped(name)
