"""The redactor: finds secrets in text and JSON, in clear and wrapped, and puts placeholders in their place.

It never raises for what it is given, changes nothing but the secrets, and what it made it leaves alone: redacting twice is
redacting once. Masking keeps the shape of a command: quotes, operators, flags, hosts and user names stay.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from herma.policy.decision import Finding
from herma.policy.redaction.around import around, placed
from herma.policy.redaction.copy import copies, note
from herma.policy.redaction.decode import DECODERS, wrapped
from herma.policy.redaction.document import redact_json
from herma.policy.redaction.encoded import encoded, may_hold
from herma.policy.redaction.finder import Finder
from herma.policy.redaction.fingerprint import Fingerprinter, foreign
from herma.policy.redaction.gate import lowered
from herma.policy.redaction.glance import Glance
from herma.policy.redaction.hit import UNJUDGED_ID, Certainty, Hit
from herma.policy.redaction.spelled import may_be_spelled, spelled
from herma.policy.redaction.view import Span, View
from herma.policy.redaction.work import QUIET, TEXT, Work, passing
from herma.policy.rule import Rule
from herma.policy.secret import Secret

__all__ = ["Edit", "Found", "Redacted", "Redactor"]

# JSON in JSON in a shell command, percent-encoded in a URL: four wrappings and one to spare.
MAX_DEPTH: Final = 5
# Every order of the decodings would be thousands of views. A command needs three or four, a megabyte of code in which everything is
# wrapped somewhere forty, the tests of the decodings a hundred. What a further view would show is masked unseen.
MAX_VIEWS: Final = 128
# A placeholder may make the words before it a name, or an argument a value (`Bearer password://u:…`): what stands around masks is
# looked at again until nothing is found, which takes one round more, seldom two.
MAX_ROUNDS: Final = 4
# Text in base64 in text: two layers are seen in the wild. Below the last one, what is base64 of a text once more is masked unread.
MAX_LAYERS: Final = 4


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `start` to `end` are replaced; a secret in pieces has one placeholder and empty replacements behind it."""

    start: int
    end: int
    replacement: str
    rule_id: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what was found; the same object as the text that was given when nothing was."""

    text: str
    findings: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Group:
    """Hits over the same characters."""

    start: int
    end: int
    best: tuple[int, int, int]
    hit: Hit
    spans: list[Span] = field(default_factory=list)


# A hit, where it stands, and how many wrappings were taken off to see it.
type Found = tuple[list[Span], int, Hit]


class Redactor:
    """All redaction rules, ready for use; it holds no state between calls but a cache of names."""

    def __init__(
        self, rules: Sequence[Rule], fingerprint_key: Secret, optional: Collection[str] = ()
    ) -> None:
        """Take the rules; of the optional ones, those that are named."""
        used = [rule for rule in rules if not rule.options.get("optional") or rule.id in optional]
        if not used:
            raise ValueError("a redactor without rules would let everything pass")
        self.finder = Finder(used)
        self.glance = Glance(self)
        self._fingerprinter = Fingerprinter(fingerprint_key)
        # All rules, not only those in use: what another set of options masked stays masked.
        self._foreign = foreign([*(rule.id for rule in rules), UNJUDGED_ID])

    def text(self, text: str, place: str = "", work: Work | None = None) -> Redacted:
        """Mask the secrets of a text; `place` is named in the findings."""
        findings: tuple[Finding, ...] = ()
        work = Work(len(text)) if work is None else work
        edits, rounds = self._with_copies(text, self.secrets(text, work), work), 1
        while edits:
            text = self.applied(text, edits)
            findings += self.findings(edits, place)
            if work.spent or rounds == MAX_ROUNDS:
                break
            edits, rounds = self._again(text, edits, work), rounds + 1
        return Redacted(text, findings)

    def _with_copies(self, text: str, secrets: Sequence[list[Edit]], work: Work) -> list[Edit]:
        """Say what to replace, the copies of the secrets in the same text among it."""
        edits = [edit for secret in secrets for edit in secret]
        self.note(text, secrets, work)
        if not work.masked:
            return edits
        taken = [(edit.start, edit.end) for edit in edits]
        edits += [
            Edit(first, last, *work.masked[value]) for first, last, value in copies(text, work.masked, taken)
        ]
        return sorted(edits, key=lambda edit: edit.start)

    @staticmethod
    def note(text: str, secrets: Sequence[list[Edit]], work: Work) -> None:
        """Remember the secrets that stand in one piece, so that their copies are found."""
        for secret in secrets:
            if len(secret) == 1:
                (edit,) = secret
                note(work.masked, text[edit.start : edit.end], edit.replacement, edit.rule_id)

    def _again(self, text: str, edits: Sequence[Edit], work: Work) -> list[Edit]:
        """Say what to replace around the placeholders that edits have put into a text."""
        parts = around(text, placed([(edit.start, edit.end, edit.replacement) for edit in edits]))
        view = View(text).quote([[part] for part in parts])
        if view is None or parts == [(0, len(text))]:
            return self.edits(text, work)
        found: list[Found] = []
        for spans, depth, hit in self.found(view.text, work):
            places = [place for span in spans for place in view.spans(*span)]
            # What stands between two parts was judged before, and stays.
            unseen = hit.certainty is Certainty.UNJUDGED
            groups = [[place] for place in places] if unseen else [places]
            found.extend((group, depth, hit) for group in groups if group)
        return [edit for secret in self.masking(found) for edit in secret]

    def quiet(self, text: str, work: Work) -> bool:
        """Tell at little cost that nothing in a text could be a secret; most texts are quiet, and no part of one is louder."""
        work.left -= QUIET + 2 * passing(len(text))
        return not (
            self._wrapped(text)
            or self.finder.gate.any(lowered(text))
            or may_hold(text)
            or may_be_spelled(text)
        )

    def json(self, raw: bytes) -> tuple[bytes, tuple[Finding, ...]]:
        """Mask the secrets in a JSON text, inside its strings; what is no JSON is treated as text.

        Bytes outside the strings that change stay as they are.
        """
        return redact_json(self, raw)

    def findings(self, edits: Sequence[Edit], place: str) -> tuple[Finding, ...]:
        """Report each secret once."""
        return tuple(self._finding(edit.rule_id, place) for edit in edits if edit.replacement)

    def _finding(self, rule_id: str, place: str) -> Finding:
        rule = self.finder.rules.get(rule_id)
        return rule.finding(place) if rule is not None else Finding(rule_id, place=place)

    @staticmethod
    def applied(text: str, edits: Sequence[Edit]) -> str:
        """Carry out the edits."""
        parts: list[str] = []
        done = 0
        for edit in edits:
            parts += (text[done : edit.start], edit.replacement)
            done = edit.end
        parts.append(text[done:])
        return "".join(parts)

    def stand_in(self, rule_id: str, value: str) -> str:
        """Make the text that stands in for a secret."""
        return self._fingerprinter.placeholder(rule_id, value)

    def unjudged(self, values: Collection[str]) -> dict[str, str]:
        """Make the texts that stand in for what was not judged."""
        return self._fingerprinter.placeholders(UNJUDGED_ID, values)

    def edits(self, text: str, work: Work | None = None) -> list[Edit]:
        """Say what to replace, in order and without overlaps."""
        return [edit for secret in self.secrets(text, work) for edit in secret]

    def secrets(self, text: str, work: Work | None = None) -> list[list[Edit]]:
        """Say what to replace, secret by secret: one that quotes or colour codes cut up takes several edits."""
        return self.masking(self.found(text, Work(len(text)) if work is None else work))

    def masking(self, found: Sequence[Found], known: Sequence[Hit] = ()) -> list[list[Edit]]:
        """Say what to replace for what was found in a text, and for secrets that the text's surroundings tell."""
        groups = self._groups([*found, *(([(hit.start, hit.end)], 0, hit) for hit in known)])
        return [self._edits(group) for group in groups]

    def _edits(self, group: _Group) -> list[Edit]:
        replacement = self.stand_in(group.hit.rule_id, group.hit.value)
        edits = []
        for start, end in _union(group.spans):
            edits.append(Edit(start, end, replacement, group.hit.rule_id))
            replacement = ""
        return edits

    @staticmethod
    def _groups(everything: Sequence[Found]) -> list[_Group]:
        groups: list[_Group] = []
        for spans, depth, hit in sorted(everything, key=lambda found: found[0][0]):
            start, end = spans[0][0], spans[-1][1]
            # The format of a vendor names the class; then the view that took off most.
            rank = (hit.certainty, depth, len(hit.value))
            if groups and start < groups[-1].end:
                group = groups[-1]
                group.end = max(group.end, end)
                group.spans.extend(spans)
                if rank > group.best:
                    group.best, group.hit = rank, hit
            else:
                groups.append(_Group(start, end, rank, hit, list(spans)))
        return groups

    def found(self, text: str, work: Work, layer: int = 0) -> list[Found]:
        """Find the secrets of a text, as it is written and as it is once its wrappings are taken off."""
        work.left -= TEXT
        if not self._wrapped(text):
            return [([(hit.start, hit.end)], 0, hit) for hit in self._hits(text, work, layer)]
        found: list[Found] = []
        queue = [(View(text), 0)]
        seen = {text}
        for view, depth in queue:
            work.left -= 2 * TEXT
            found.extend(self._mapped(view, depth, self._hits(view.text, work, layer)))
            if depth == MAX_DEPTH:
                continue
            for decode in (*DECODERS, self._opened):
                decoded = decode(view, work)
                if decoded is None or decoded.text in seen:
                    continue
                if len(queue) < MAX_VIEWS:
                    seen.add(decoded.text)
                    queue.append((decoded, depth + 1))
                else:
                    found.extend(self._mapped(decoded, depth + 1, _unread(decoded.text)))
            found.extend(self._mapped(view, depth, view.unseen))
        return found

    def _wrapped(self, text: str) -> bool:
        return wrapped(text) or ("[" in text and self._foreign.search(text) is not None)

    def _opened(self, view: View, work: Work) -> View | None:
        """Read what only looks like a placeholder as what it is."""
        return view.derive(self._foreign, lambda _: "", work) if "[" in view.text else None

    @staticmethod
    def _mapped(view: View, depth: int, hits: list[Hit]) -> Iterator[Found]:
        for hit in hits:
            unseen = hit.certainty is Certainty.UNJUDGED
            spans = [view.reach(hit.start, hit.end)] if unseen else view.spans(hit.start, hit.end)
            # A hit between two far-apart pieces of a view has no place in the source.
            if spans:
                yield spans, depth, hit

    def _hits(self, text: str, work: Work, layer: int) -> list[Hit]:
        hits: list[Hit] = []
        # First what is cheap: when the work ends among the names, the runs in front of them were judged.
        inside = partial(self._inside, work=work, layer=layer + 1) if layer < MAX_LAYERS else _unread
        hits.extend(encoded(text, inside, work))
        hits.extend(spelled(text, inside, work))
        hits.extend(self.finder.find(text, work))
        return hits

    def _inside(self, text: str, work: Work, layer: int) -> list[Hit]:
        return [hit for _, _, hit in self.found(text, work, layer)]


def _unread(text: str) -> list[Hit]:
    return [Hit.unseen(text, 0, len(text))]


def _union(spans: list[Span]) -> list[Span]:
    union: list[Span] = []
    for start, end in sorted(spans):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return union
