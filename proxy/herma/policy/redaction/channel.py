"""Redaction of text that arrives in pieces: model deltas, terminal output.

A channel keeps some released text as left context, so that a value is recognised though its name has already left. It holds
back only what could still become a secret: the last word behind a keyword, a run that looks drawn, a value that is still
open. Whatever is held leaves at the next piece that decides it, or masked after `DEADLINE_S`. No byte of a secret that the
whole text would have lost leaves, however the text is cut.
"""

import re
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from herma.policy.decision import Finding
from herma.policy.redaction.block import BLOCK_ID, key_ends
from herma.policy.redaction.encoded import beginnings
from herma.policy.redaction.gate import lowered
from herma.policy.redaction.hold import MAX_HELD_LINE_CHARS, Hold, last_word
from herma.policy.redaction.redactor import Edit, Redactor
from herma.policy.redaction.url import URL_ID
from herma.policy.redaction.value import looks_like_password, looks_random
from herma.policy.redaction.watch import CONTEXT_CHARS, Watch
from herma.policy.redaction.work import HOLD, STREAM_UNITS, Work, passing

__all__ = ["CONTEXT_CHARS", "DEADLINE_S", "MAX_HELD_CHARS", "Channel"]

# A person notices a pause of about half a second in a stream of words.
DEADLINE_S: Final = 0.3
# A private key of 16,384 bits is 12 KiB. What is longer and still open is masked.
MAX_HELD_CHARS: Final = 64 * 1024
# A look is worth so many units for each character that is new: plain words are looked at as they come, text full of keywords
# some ten characters at a time.
UNITS_PER_NEW_CHAR: Final = 64
# What the looks at one text may cost: so much at once, so much for each character and for each second. A model that writes a
# hundred words a second about passwords spends a third of the last; a flood is looked at less often, and held meanwhile.
CREDIT_UNITS: Final = 80_000
CREDIT_PER_CHAR: Final = 0.22
CREDIT_PER_SECOND: Final = 50_000
# Of what is held for longer than this, only a growth by one part in `LAZINESS` is a reason to look again.
MAX_RESTLESS_CHARS: Final = 1024
LAZINESS: Final = 8
# A value that could go on is looked for in the last lines only.
MAX_PROBED_CHARS: Final = 4096
# Text that is decided and no context any more is dropped when it is as long as this, not with every piece.
MAX_FORGOTTEN_CHARS: Final = 128

_QUOTES: Final = frozenset("\"'`")
_WORD_END: Final = re.compile(r"[\s\"'`;&|<>\\]")
_USER_INFO_END: Final = re.compile(r"[\s\"'`<>\\@/]")
# A continuation that makes any open value look drawn: letters of both cases and digits, longer than any minimum.
_PROBES: Final = ("@host.invalid/", "Q7zK2mX9bV4nR8tW3cY6hL5sD1fG0hJqZ7kM2xB9vN4rT8w", " amber" * 12)


@dataclass(frozen=True, slots=True)
class _Chunk:
    start: int
    arrived: float


class Channel:
    """One text, given piece by piece; offsets count from its beginning.

    `decided` says up to where the output is known; `render` gives the output for a part below it.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        # What is kept of the text begins at offset `_base`.
        self._text = ""
        self._base = 0
        self.decided = 0
        self.total = 0
        self._watch = Watch(redactor.finder)
        self._hold = Hold(redactor.finder, self._watch)
        self._chunks: deque[_Chunk] = deque()
        self._edits: deque[Edit] = deque()
        # How much there was at the last look.
        self._looked = 0
        # What that look cost, and what looks may still cost, in units of work; when the last piece came.
        self._cost = 0.0
        self._credit: float = CREDIT_UNITS
        self._now: float | None = None
        self._masked_to = -1
        # What is being masked until it ends: "word", "user info", "block", or the quote that closes it.
        self._mask: str | None = None
        self._findings: list[Finding] = []

    def append(self, text: str, now: float) -> None:
        """Take the next piece and decide what can be decided."""
        for start in range(0, len(text), MAX_HELD_CHARS):
            self._append(text[start : start + MAX_HELD_CHARS], now)

    def _append(self, text: str, now: float) -> None:
        self._chunks.append(_Chunk(self.total, now))
        self._watch.take(text)
        self._text += text
        self.total += len(text)
        idle_s = max(0.0, now - self._now) if self._now is not None else 0.0
        self._now = now
        self._credit += len(text) * CREDIT_PER_CHAR + idle_s * CREDIT_PER_SECOND
        self._credit = min(self._credit, CREDIT_UNITS)
        # What is dear to look at is not looked at again for a few characters more: the looks at a text that grows would add up.
        held, grown = self.total - self.decided, self.total - self._looked
        idle = self._cost / UNITS_PER_NEW_CHAR if held <= MAX_RESTLESS_CHARS else held / LAZINESS
        if (grown < idle or self._credit < self._cost) and held <= MAX_HELD_CHARS:
            return
        self._looked = self.total
        self._decide(force=held > MAX_HELD_CHARS)

    def force(self) -> None:
        """Decide everything, though more may come: what would be a secret if it went on is masked."""
        self._decide(force=True)

    def finish(self) -> None:
        """Decide everything: the text ended, and is judged as it stands."""
        self._decide(force=True, ended=True)

    def deadline(self) -> float | None:
        """Tell when the oldest held character must be decided; None when none is held."""
        return self._chunks[0].arrived + DEADLINE_S if self.decided < self.total else None

    def render(self, text: str, start: int) -> str:
        """Give the output for `text`, which began at `start` and is decided; each part is asked for once, in order."""
        end = start + len(text)
        parts: list[str] = []
        done = start
        while self._edits and self._edits[0].start < end:
            edit = self._edits[0]
            parts += (text[done - start : max(edit.start, start) - start], edit.replacement)
            done = min(edit.end, end)
            if edit.end > end:
                self._edits[0] = Edit(end, edit.end, "", edit.rule_id)
                break
            self._edits.popleft()
        parts.append(text[done - start :])
        return "".join(parts)

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        found, self._findings = tuple(self._findings), []
        return found

    def _decide(self, *, force: bool, ended: bool = False) -> None:
        self._cost = 0.0
        if self._mask is not None:
            self._continue_mask()
        if self.decided == self.total:
            self._forget()
            return
        held = self._hold.start(self._text, self._base, self.decided - self._base)
        self._spend(passing(len(self._text)) + HOLD)
        hold = self.total if force else self._base + held
        # Where nothing can leave, nothing has to be found.
        if (force or hold > self.decided) and self._worth_a_look():
            hold = self._apply(self._secrets(self._text, self._work(self._text)), hold, force=force)
        if force and not ended:
            self._mask_open_end(hold)
        self.decided = max(self.decided, hold)
        if ended:
            self._mask = None
        self._forget()

    def _work(self, text: str) -> Work:
        """Give what one look may cost: when a flood has spent its credit, no more than has come in since."""
        work = Work(len(text), STREAM_UNITS)
        work.left = min(work.left, max(STREAM_UNITS, self._credit))
        return work

    def _secrets(self, text: str, work: Work) -> list[list[Edit]]:
        budget = work.left
        secrets = self._redactor.secrets(text, work=work)
        self._spend(budget - work.left)
        return secrets

    def _spend(self, units: float) -> None:
        self._cost += units
        self._credit -= units

    def _worth_a_look(self) -> bool:
        """Tell whether the text could hold a secret: a keyword is near, or something looks drawn or wrapped."""
        return (
            self._watch.near
            or bool(self._redactor.finder.numbers)
            or self._watch.suspicious > self.decided - CONTEXT_CHARS
        )

    def _apply(self, secrets: list[list[Edit]], hold: int, *, force: bool) -> int:
        """Take over the edits below `hold`, which moves back to the first secret that may go on."""
        for secret in secrets:
            start, end = self._base + secret[0].start, self._base + secret[-1].end
            if end <= self.decided:
                continue
            if not force and (end > hold or self._open(secret)):
                return max(self.decided, min(hold, start))
            self._take(secret)
            if self._open(secret):
                self._open_mask(secret)
        return hold

    def _open(self, secret: list[Edit]) -> bool:
        end = secret[-1].end
        if secret[0].rule_id == BLOCK_ID:
            return key_ends(self._text, end) < 0
        return end == len(self._text)

    def _take(self, secret: list[Edit]) -> None:
        for edit in secret:
            start, end = max(self._base + edit.start, self.decided), self._base + edit.end
            if end <= self.decided:
                continue
            # The first part of this secret left as a placeholder already, or as a public prefix.
            continued = self._base + edit.start < self.decided and self._masked_to == self.decided
            replacement = "" if continued else edit.replacement
            self._mask_out(Edit(start, end, replacement, edit.rule_id))

    def _mask_out(self, edit: Edit) -> None:
        if edit.replacement:
            self._findings.extend(self._redactor.findings([edit], ""))
        self._edits.append(edit)
        self._masked_to = edit.end
        self.decided = max(self.decided, edit.end)

    def _mask_open_end(self, hold: int) -> None:
        """Mask what would become a secret if it went on."""
        if self._mask is not None or self.decided == hold:
            return
        # All guesses at what may come share what one look may cost.
        work = self._work(self._text)
        self._mask_explained_later(work)
        text, first = self._text, self.decided - self._base
        if first == len(text):
            return
        # What began earlier and is open was found open without a probe.
        cut = max(0, len(text) - MAX_PROBED_CHARS)
        for secret in (secret for probe in _PROBES for secret in self._secrets(text[cut:] + probe, work)):
            begin, end = cut + secret[0].start, cut + secret[-1].end
            start = max(begin, first)
            if start < len(text) <= end and not self._bare_prefix(text[begin:]):
                self._close_with(start, secret[0].rule_id)
                return
        if self._mask_open_argument(first):
            return
        tail = text[max(first, last_word(text)) :]
        if any(self._begins_token(opened) for opened in beginnings(tail)):
            self._close_with(len(text) - len(tail), "sk-key")
            return
        for _, _, end in self._redactor.finder.formats.hits(lowered(tail)):
            if end < len(tail) and looks_random(tail[end:], at_least=3):
                self._close_with(len(text) - len(tail), "sk-key")
                return
        # A digest or an identifier is complete as it stands; what mixes cases may be the beginning of anything.
        if looks_random(tail, at_least=12) and tail.lower() != tail != tail.upper():
            self._close_with(len(text) - len(tail), "sk-key")

    def _mask_open_argument(self, first: int) -> bool:
        """Mask what stands in an open quote behind a name or a verb, if it looks like a password."""
        text = self._text
        at = self._redactor.finder.open_quote(text, max(0, len(text) - MAX_PROBED_CHARS))
        begun = text[at:]
        if max(at, first) >= len(text) or " " in begun or not looks_like_password(begun):
            return False
        self._close_with(max(at, first), "credential")
        return True

    def _begins_token(self, opened: str) -> bool:
        """Tell whether a text holds the public beginning of a credential, and some of what follows."""
        return any(
            end < len(opened) and not opened[max(0, start - 1) : start].isalnum()
            for _, start, end in self._redactor.finder.formats.hits(lowered(opened))
        )

    def _mask_explained_later(self, work: Work) -> None:
        """Mask what a pipe behind it would make a password, if it looks like one."""
        text, first = self._text, self.decided - self._base
        if self._hold.line(text, self._base) == len(text):
            return
        cut = max(0, len(text) - MAX_HELD_LINE_CHARS - CONTEXT_CHARS)
        for probe in self._redactor.finder.later:
            for secret in self._secrets(text[cut:].rstrip(" ") + probe, work):
                start, end = cut + secret[0].start, cut + secret[-1].end
                if (
                    first < end <= len(text)
                    and looks_like_password(text[start:end])
                    and " " not in text[start:end]
                ):
                    self._take([Edit(cut + e.start, cut + e.end, e.replacement, e.rule_id) for e in secret])
                    if end == len(text):
                        self._open_mask(secret, cut)
                    return

    def _bare_prefix(self, tail: str) -> bool:
        return lowered(tail) in self._redactor.finder.beginnings

    def _close_with(self, start: int, rule_id: str) -> None:
        written = self._text[start:]
        replacement = self._redactor.stand_in(rule_id, written)
        edit = Edit(start, len(self._text), replacement, rule_id)
        self._take([edit])
        self._open_mask([edit])

    def _open_mask(self, secret: list[Edit], cut: int = 0) -> None:
        """Keep masking until the token, the quote or the key ends; the places count from `cut`."""
        start = cut + secret[0].start
        quote = self._text[max(0, start - 1) : start]
        quote = quote if quote in _QUOTES else ""
        for before, edit in pairwise(secret):
            # The parts of a glued word (`'ab'"cd`, `'ab'cd`) have each their own quote.
            between = self._text[cut + before.end : cut + edit.start]
            if between[-1:] in _QUOTES:
                quote = between[-1] if len(between) > 1 or not quote else ""
        if secret[0].rule_id == BLOCK_ID:
            self._mask = "block"
        else:
            self._mask = quote or ("user info" if secret[0].rule_id == URL_ID else "word")

    def _continue_mask(self) -> None:
        text, first = self._text, self.decided - self._base
        match self._mask:
            case "block":
                end = key_ends(text, first)
            case "word":
                found = _WORD_END.search(text, first)
                end = found.start() if found else -1
            case "user info":
                found = _USER_INFO_END.search(text, first)
                end = found.start() if found else -1
            case quote:
                found = re.compile(rf"[{quote}\n\\]").search(text, first)
                end = found.start() if found else -1
        stop = len(text) if end < 0 else end
        if stop > first:
            self._mask_out(Edit(self.decided, self._base + stop, "", BLOCK_ID))
        if stop < len(text):
            self._mask = None

    def _forget(self) -> None:
        """Drop what is neither undecided nor context."""
        drop = self.decided - self._base - CONTEXT_CHARS
        if drop > MAX_FORGOTTEN_CHARS:
            self._text = self._text[drop:]
            self._base += drop
        while len(self._chunks) > 1 and self._chunks[1].start <= self.decided:
            self._chunks.popleft()
