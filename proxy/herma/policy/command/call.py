"""One program that is run, with what it is given: the unit that effects are judged by; and all that a command runs."""

from dataclasses import dataclass

__all__ = ["Call", "Reading"]


@dataclass(frozen=True, slots=True)
class Call:
    """A resolved vector with its redirections.

    `piped` tells that another command's output comes in; `fed` is that text where it is known. `shell` tells that a shell
    starts it, and not whoever reads the entry. `kept` tells that what it prints goes into a variable. `inside` tells that a
    container runs it, which has files of its own. `after` is the directory that it surely runs in, empty where that is not known.
    """

    argv: tuple[str, ...]
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    piped: bool = False
    fed: str | None = None
    shell: bool = True
    kept: bool = False
    inside: bool = False
    after: str = ""

    @property
    def line(self) -> str:
        """Write it on one line, for rules that look at programs with their options."""
        redirects = [f"> {path}" for path in self.writes] + [f"< {path}" for path in self.reads]
        return " ".join((*self.argv, *redirects))


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command does: its lines as text, the programs it starts, and the programs it carries in other languages.

    `whole` is False where a bound ended the reading before the text did.
    """

    lines: tuple[str, ...]
    calls: tuple[Call, ...]
    codes: tuple[str, ...]
    whole: bool
