"""Logging in at an identity provider: what is sent there, what comes back, and who of its people may come in.

OpenID Connect Core 1.0, the authorization code flow with PKCE; OpenID Connect Discovery 1.0; RFC 9207; RP-Initiated Logout 1.0.
"""
