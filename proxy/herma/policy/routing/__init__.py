"""Profiles of upstreams: which operation a request is."""
