"""The redactor with the shipped rules, built once for the whole suite."""

from functools import lru_cache

from herma.content.rules import load_rules
from herma.content.shipped import data_dir
from herma.policy.decision import Level
from herma.policy.redaction.redactor import Redactor
from herma.policy.rule import Examples, Rule, Status
from herma.policy.secret import Secret

KEY = Secret(b"a key for tests only, 32 bytes long")

# Values that no vendor ever issued, in the formats of vendors.
GITHUB = "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"
OPENAI = "sk-proj-F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF0rT3st"
PASSWORD = "F4ke-horse_68"


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    return load_rules(data_dir("rules/redaction"), "redaction")


@lru_cache(maxsize=1)
def redactor() -> Redactor:
    return Redactor(rules(), KEY)


def masked(text: str) -> str:
    return redactor().text(text).text


def rule(
    identifier: str = "made-up", *, pattern: str = "", keywords: tuple[str, ...] = (), **options: object
) -> Rule:
    return Rule(
        id=identifier,
        family="redaction",
        title="Made up",
        status=Status.TEST,
        level=Level.HIGH,
        description="For tests.",
        examples=Examples(("a", "b"), ("c", "d")),
        keywords=keywords,
        pattern=pattern,
        tags=("T1552",),
        options=options,
    )
