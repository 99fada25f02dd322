"""What a profile says about one route of an upstream: data only, no judgement."""

from dataclasses import dataclass
from enum import StrEnum

from herma.policy.decision import Deny
from herma.policy.grant import Scope

__all__ = [
    "Auth",
    "Creates",
    "Current",
    "Dialect",
    "Envelope",
    "Owned",
    "Route",
    "Serves",
    "Socket",
    "Stream",
    "Turn",
]


# The last word of operations that show something and do nothing.
_SHOWING = frozenset({"file", "list", "page", "read", "status"})


class Envelope(StrEnum):
    """The shape of an error body, as the clients of a route expect it."""

    OPENAI = "openai"
    FLAT = "flat"
    FASTAPI = "fastapi"


class Dialect(StrEnum):
    """How a stream of server-sent events is to be read."""

    OPENAI_CHAT = "openai.chat"
    OPENAI_RESPONSES = "openai.responses"
    HERMES_RUN = "hermes.run"
    HERMES_SESSION = "hermes.session"


class Turn(StrEnum):
    """Whether a request starts a turn of the agent, and for how long the turn holds its slot.

    `open`: as long as the request is open. `background`: until the end of the run was seen.
    """

    NONE = "none"
    OPEN = "open"
    BACKGROUND = "background"


class Stream(StrEnum):
    """Whether the answer is an event stream: never, when the client asks for it, or always."""

    NEVER = "never"
    ASKED = "asked"
    ALWAYS = "always"


class Auth(StrEnum):
    """Who is asked for what: `key` by the gate, `jwt` for a token that starts a job, `adapter` by the upstream for one of its own."""

    KEY = "key"
    JWT = "jwt"
    ADAPTER = "adapter"


class Serves(StrEnum):
    """What a route answers with.

    `answers`: what the agent has to say, judged. `page`: a page of the upstream, judged too, with a policy for browsers. `file`: a
    file that comes with the upstream, copied as it is.
    """

    ANSWERS = "answers"
    PAGE = "page"
    FILE = "file"


class Socket(StrEnum):
    """What passes over a WebSocket of a route, once its handshake was judged like any request.

    `messages`: text both ways, that of the caller judged as a body of the route, that of the upstream redacted. `calls`: the same
    with JSON-RPC calls from the caller. `events`: the caller sends nothing. `terminal`: keys one way, the output of a terminal the
    other, which is redacted as one text.
    """

    MESSAGES = "messages"
    CALLS = "calls"
    EVENTS = "events"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class Owned:
    """The path parameter `param` holds the id of an object of this kind, which belongs to one key."""

    kind: str
    param: str


@dataclass(frozen=True, slots=True)
class Creates:
    """A successful answer holds the id of a new object of this kind: at a JSON Pointer, or in a header if one is named.

    In an event stream the pointer is looked for in every event's JSON.
    """

    kind: str
    pointer: str = ""
    header: bytes = b""


@dataclass(frozen=True, slots=True)
class Current:
    """Where the upstream tells what it holds now of what a route writes.

    A GET of `path`, in which parameters stand for those of the route, answers with it at `pointer`; in the body of the write it
    stands at `body`. With `merges` the upstream lays what is written over what it holds, else it replaces it. `param` is a member of
    the body, and a parameter of the query, that says which of several configurations is meant; without one only a write without a
    query is compared. With `items` the answer is a list, and each item names one member of what is written and holds its value:
    under these two names. `file` is another path that answers with the whole as YAML, at
    `file_pointer`: there stands what the answer of `path` leaves out.
    """

    path: str
    pointer: str
    body: str
    merges: bool = False
    param: str = ""
    file: str = ""
    file_pointer: str = ""
    items: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """One route.

    `template` is a path with `{name}` for a segment. `text` are JSON Pointers into the request body, `*` for each
    element: every string at or below them is prompt text; the empty pointer is the whole body. `checks` name extra
    inspections. `refers` are (kind, JSON Pointer) of ids in the request body, `headers` (lower-case name, kind) of ids
    in request headers, that belong to one key. `run_param` is the path parameter that holds a run id,
    `response_run_pointer` where the answer holds one. A `closed` route is refused whoever asks, and so is one that is
    `off`, which the operator can switch on.
    The upstream keeps what is written over a route that `keeps`; `current` tells what it holds before.
    `reduced` are JSON Pointers into the answer: whoever may not `read` gets what stands there and nothing else; empty shows all.
    A page asks a `polled` route again and again by itself, which is no use of the session that it does it with.
    `paths` are names of query parameters and of members of the body that name a file of the agent's machine, `archives` those of
    fields of a form that the upstream unpacks over its home.
    `fires` is the path by which the upstream is told to run a job, with the parameter `job_id`, of a route that starts jobs from outside.
    Only a route with `encoded_slash` takes `%2F` inside a path parameter, and only one with `null_body` takes `null` for no body.
    """

    method: str
    template: str
    operation: str
    scope: Scope
    envelope: Envelope = Envelope.OPENAI
    turn: Turn = Turn.NONE
    dialect: Dialect | None = None
    public: bool = False
    max_body_bytes: int | None = None
    text: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    run_param: str = ""
    response_run_pointer: str = ""
    auth: Auth = Auth.KEY
    stream: Stream = Stream.NEVER
    owned: Owned | None = None
    creates: tuple[Creates, ...] = ()
    refers: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[bytes, str], ...] = ()
    closed: bool = False
    off: bool = False
    encoded_slash: bool = False
    null_body: bool = False
    socket: Socket = Socket.MESSAGES
    serves: Serves = Serves.ANSWERS
    keeps: bool = False
    current: Current | None = None
    reduced: tuple[str, ...] = ()
    polled: bool = False
    paths: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    fires: str = ""

    @property
    def shows(self) -> bool:
        """Tell whether a GET of it shows something and does nothing, so that a link of anybody's may lead there.

        What needs more than the scope `read` may do something (look at a repository, fetch a URL); and what is called otherwise does,
        whatever scope an operator gave it.
        """
        return (
            self.method == "GET"
            and self.scope in {Scope.STATUS, Scope.READ}
            and self.operation.rpartition(".")[2] in _SHOWING
        )

    @property
    def shut(self) -> Deny | None:
        """Tell why nobody may use the route; None where somebody may."""
        if self.closed:
            return Deny(403, "herma.route.closed", "This route is closed at the gate.")
        if self.off:
            return Deny(
                403,
                "herma.route.off",
                f"{self.operation} is off at the gate; its operator can switch it on under `surfaces`.",
            )
        return None
