"""An exemption as it stands in a configuration."""

from datetime import date

import yaml
from hypothesis import given
from hypothesis import strategies as st

from herma.content.exemption_yaml import exemption_yaml
from herma.policy.exemption import Exemption, Kind, Subject


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=40), st.sampled_from(Kind))
def test_it_says_again_what_it_was_made_of(name: str, kind: Kind) -> None:
    """Whatever quotes are in a name; only the reason is left to a person."""
    one = Exemption("mcp-tunnel", Subject(kind, name), date(2027, 1, 31), "sha256:" + "0" * 64)
    (read,) = yaml.safe_load("\n".join(exemption_yaml([one])))["exemptions"]
    assert read == {
        "rule": "mcp-tunnel",
        "subject": {kind.value: name},
        "digest": one.digest,
        "expires": one.expires,
        "reason": "",
    }


def test_without_a_digest_none_is_written() -> None:
    """An empty one would mean nothing."""
    one = Exemption("mcp-tunnel", Subject(Kind.JOB, "a"), date(2027, 1, 31))
    assert not [line for line in exemption_yaml([one]) if "digest" in line]
