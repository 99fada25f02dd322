"""What an explanation is made of."""

from datetime import date
from functools import cache

from herma.cli.explanation import Explainer
from herma.content.library import Library
from herma.policy.decision import Verdict
from herma.policy.exemption import Kind, Subject, digest_of
from support.redactor import GITHUB, redactor

TODAY = date(2026, 6, 1)
TUNNEL = {"command": "ngrok", "args": ["tcp", "22"]}


@cache
def explainer() -> Explainer:
    library = Library()
    return Explainer(library, library.rule_set(), redactor(), TODAY)


def test_an_exemption_is_as_narrow_as_it_can_be() -> None:
    """One rule, one name, this content, three months."""
    (one,) = explainer().entry("relay", TUNNEL).exemptions
    assert one.rule_id == "mcp-tunnel"
    assert one.subject == Subject(Kind.SERVER, "relay")
    assert one.digest == digest_of(TUNNEL)
    assert one.expires == date(2026, 8, 30)


def test_each_rule_behind_a_finding_has_its_file() -> None:
    """An indicator has none: it is no rule."""
    known = explainer().entry("mail", {"command": "npx", "args": ["-y", "postmark-mcp@1.0.16"]})
    assert known.judgement.verdict is Verdict.BLOCK
    assert {reason.rule for reason in known.reasons if reason.finding.rule_id.startswith("ioc-")} == {None}
    (reason,) = explainer().entry("relay", TUNNEL).reasons
    assert reason.file.endswith("rules/mcp/mcp-tunnel.yaml")


def test_long_inputs_are_shown_in_part() -> None:
    """A page, however much there is; the judgement is of all of it."""
    job = {f"field{index}": f"text {index} " * 200 for index in range(60)}
    shown = explainer().job(job).steps
    assert len(shown) <= 24
    assert all(len(text) <= 600 for texts in shown.values() for text in texts)


def test_a_text_is_shown_without_its_secrets_at_every_step() -> None:
    """Also once its wrapping is off."""
    explained = explainer().secret(f"a%3D{GITHUB.replace('_', '%5F')} &#103;o")
    assert explained.judgement.verdict is Verdict.BLOCK
    assert len(explained.steps["unwrapped"]) > 1
    assert GITHUB not in "".join([explained.text, *explained.steps["unwrapped"]])
