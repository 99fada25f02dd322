"""Git's configuration in variables: `GIT_CONFIG_KEY_0=core.pager` beside `GIT_CONFIG_VALUE_0=less` says what `GIT_PAGER=less` says.

Which key stands for which variable is data (`git_keys` in the options of rules), so that a pair is judged by what is known of that
variable: what it is usually set to, and what makes programs run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import translate

from herma.policy.rule import Rule

__all__ = ["GitKeys"]

_KEY = re.compile(r"\s*GIT_CONFIG_(KEY|VALUE)_0*([0-9]{1,6})\s*", re.IGNORECASE)
# `url.<base>.insteadOf`: the base is where git goes instead.
_INSTEAD = re.compile(r"url\.(.+)\.(?:push)?insteadof", re.DOTALL)


class GitKeys:
    """Knows the keys of a set of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._names = [
            (re.compile(translate(str(glob))), str(name))
            for rule in rules
            for name, globs in rule.options.get("git_keys", {}).items()
            for glob in globs
        ]

    def variables(self, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Give what the pairs among some variables say, as names and values of other variables."""
        keys: list[tuple[str, str]] = []
        values: dict[str, list[str]] = {}
        for name, text in env.items():
            if (match := _KEY.fullmatch(name)) is not None:
                if match[1].upper() == "KEY":
                    keys.append((match[2], text.strip().lower()))
                else:
                    values.setdefault(match[2], []).append(text)
        for number, key in keys:
            instead = _INSTEAD.fullmatch(key)
            given = values.get(number, ()) if instead is None else (f"git+{instead[1]}",)
            for pattern, name in self._names:
                if pattern.fullmatch(key) is not None:
                    yield from ((name, value) for value in given)
