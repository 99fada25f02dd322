"""What belongs to whom: a run, a stored response or a session belongs to the key that started or first used it.

The upstream has one key and no owners. Behind the gate another key can neither read, stop nor approve what it did not
start, unless it has `admin` or both keys share a group. A name that callers choose (a session, a conversation) belongs to
the key that used it first; an id that the upstream gave out and that has no known owner is for `admin` only.
"""

from herma.ingress.plane import Plane
from herma.ingress.refusal import Refusal
from herma.policy.decision import Deny
from herma.policy.exchange import Exchange
from herma.policy.grant import Scope
from herma.policy.jsondoc import Document, find
from herma.policy.message.canonical import Headers
from herma.store import Owner

__all__ = ["Owners"]

# Somebody else's object looks exactly like one that is not there.
_ABSENT = Deny(404, "herma.owner.unknown", "There is no such object for this key.")
_TAKEN = Deny(403, "herma.owner.taken", "This name belongs to another key.")
_FORM = Deny(400, "herma.owner.form", "An id or name in the body must be text without blanks around it.")

# Kinds whose names the upstream gives out and nobody can choose; all others are taken by their first use.
_GIVEN_OUT = frozenset({"run", "response", "completion", "file"})

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

# What is longer than this is no identifier of the upstream or of a caller.
MAX_ID_CHARS = 256


class Owners:
    """The owners of what one exchange names or creates."""

    def __init__(self, plane: Plane, exchange: Exchange) -> None:
        self._store = plane.store
        self._principal = exchange.principal
        self._exchange = exchange
        self._route = exchange.match.route

    async def check_head(self) -> None:
        """Refuse a path or header that names somebody else's object.

        Raises:
            Refusal: 404 for an object of another key, 403 for a name that another key took.
            StoreError: the owners cannot be asked.
        """
        if self._route.owned is not None:
            await self._check(
                self._route.owned.kind, self._exchange.match.params.get(self._route.owned.param, "")
            )
        for header, kind in self._route.headers:
            name = self._exchange.head.get(header)
            if name:
                await self._check(kind, name.decode("latin-1"))

    async def check_body(self, document: Document | None) -> None:
        """Refuse a body that refers to somebody else's object; the same rules as for the path.

        A name has one spelling: the upstream takes blanks away, and its database finds the text `7` for the number 7.

        Raises:
            Refusal: as for the path, and 400 for a name in another spelling.
            StoreError: the owners cannot be asked.
        """
        if document is None:
            return
        for kind, pointer in self._route.refers:
            for _, name in find(document.value, pointer):
                if name is None or name == "" or self._named_within(pointer, name):
                    continue
                if not isinstance(name, str) or name != name.strip():
                    raise Refusal(_FORM)
                await self._check(kind, name)

    async def bind_headers(self, headers: Headers) -> None:
        """Bind what the head of a successful answer says was created, such as the session the upstream derived."""
        for made in self._route.creates:
            for name, value in headers:
                if made.header and name.lower() == made.header:
                    await self._bind(made.kind, value.decode("latin-1"))

    async def bind_answer(self, answer: object) -> dict[str, str]:
        """Bind what a successful answer, or an event of one, says was created; return the ids by kind."""
        bound = {}
        for made in self._route.creates:
            for _, name in find(answer, made.pointer) if made.pointer else ():
                if isinstance(name, str):
                    await self._bind(made.kind, name)
                    bound[made.kind] = name
        return bound

    @property
    def awaits_ids(self) -> bool:
        """Whether the body of the answer may hold an id to bind."""
        return any(made.pointer for made in self._route.creates)

    @property
    def awaits_more_than_run(self) -> bool:
        """Whether it may hold one of something that outlives the answer; the run of an open turn ends with it."""
        return any(made.pointer and made.kind != "run" for made in self._route.creates)

    def _named_within(self, pointer: str, value: object) -> bool:
        """Tell whether the value is an object whose own member holds the name, and is looked at by itself."""
        return isinstance(value, dict) and any(
            other.startswith(f"{pointer}/") for _, other in self._route.refers
        )

    async def _check(self, kind: str, name: str) -> None:
        principal = self._principal
        if principal is None or not name or len(name) > MAX_ID_CHARS:
            raise Refusal(_ABSENT)
        if kind in _GIVEN_OUT:
            known = await self._store.owner(kind, name)
            if not principal.may(Scope.ADMIN) and (known is None or not known.admits(principal)):
                raise Refusal(_ABSENT)
            return
        # Looking at a name does not take it: only a request that may change something does.
        own = Owner.of(principal)
        if self._exchange.head.method in _SAFE:
            holder = await self._store.owner(kind, name) or own
        else:
            holder = await self._store.claim(kind, name, own)
        if not holder.admits(principal):
            raise Refusal(_TAKEN)

    async def _bind(self, kind: str, name: str) -> None:
        if self._principal is not None and 0 < len(name) <= MAX_ID_CHARS:
            await self._store.claim(kind, name, Owner.of(self._principal))
