"""The request checks, in order."""

from herma.policy.checks.approval_gate import judge_choice
from herma.policy.checks.body_shape import read_document, read_message
from herma.policy.checks.chain import CHECKS, RuleSet, build_checks

__all__ = ["CHECKS", "RuleSet", "build_checks", "judge_choice", "read_document", "read_message"]
