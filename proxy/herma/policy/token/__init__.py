"""Signed tokens (RFC 7519): what they may look like, what their claims have to say, and what they grant."""
