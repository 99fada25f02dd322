"""Limits as state machines: slots, rates, throttles, life cycle."""
