"""Which route a request asks for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Deny
from herma.policy.grant import Scope
from herma.policy.message.target import Target, canonical_target
from herma.policy.routing.profile import (
    OPTIONS,
    UNKNOWN,
    Auth,
    Envelope,
    Family,
    Match,
    Owned,
    Profile,
    Route,
    RunStatus,
    Turn,
    undeclared,
)

OWNED = Owned("run", "run_id")
PROFILE = Profile(
    name="test",
    min_version="1",
    routes=(
        Route("GET", "/health", "status", Scope.STATUS, public=True),
        Route("POST", "/v1/runs", "run.start", Scope.RUN, turn=Turn.BACKGROUND),
        Route("GET", "/v1/runs/{run_id}", "run.read", Scope.READ, run_param="run_id", owned=OWNED),
        Route("GET", "/api/jobs", "cron.read", Scope.CRON, Envelope.FLAT),
        Route("POST", "/api/cron/fire", "cron.fire", Scope.CRON, Envelope.FLAT, auth=Auth.JWT, closed=True),
    ),
    prefixes=("/p/{profile}",),
    families=(
        Family("/v1/runs/{run_id}", Envelope.OPENAI, owned=OWNED, run_param="run_id"),
        Family("/api/jobs", Envelope.FLAT, Scope.CRON),
    ),
    headers=((b"x-hermes-session-id", "session"),),
    unknown_checks=("cron",),
)


def target(path: str) -> Target:
    found = canonical_target(path.encode())
    assert isinstance(found, Target)
    return found


def matched(method: str, path: str) -> Match:
    match = PROFILE.match(method, target(path))
    assert isinstance(match, Match), match
    return match


def test_known_route_is_matched_with_its_parameters() -> None:
    """The route is the profile's own, parameters are decoded."""
    match = matched("GET", "/v1/runs/run%5F1?x=/health")
    assert (match.route.operation, match.known, match.profile_prefix) == ("run.read", True, "")
    assert match.params == {"run_id": "run_1"}


def test_prefixed_twin_is_the_same_route() -> None:
    """`/p/anything/…` is the same operation with the same owner, and tells the prefix."""
    match = matched("GET", "/p/zzz/v1/runs/r1")
    assert (match.route.operation, match.params, match.profile_prefix) == (
        "run.read",
        {"run_id": "r1"},
        "zzz",
    )
    assert matched("POST", "/p/zzz/v1/runs").route.turn is Turn.BACKGROUND


def test_encoded_letters_match_the_same_route() -> None:
    """The upstream decodes before it matches, so the gate does too."""
    assert matched("GET", "/api/%6Aobs").route.operation == "cron.read"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("HEAD", "/health"), ("GET", "/p/x/health"), ("GET", "/health/"), ("GET", "/HEALTH"), ("GET", "/healthz-admin"),
        ("GET", "/health/x"), ("GET", "/x/health"), ("GET", "/admin/health"), ("OPTIONS", "/health"), ("GET", "/private?x=/health"),
        ("GET", "/admin/favicon.ico"), ("GET", "/"),
    ],
)  # fmt: skip
def test_only_the_exact_public_path_is_public(method: str, path: str) -> None:
    """Every neighbour of a public path, by prefix, suffix, case, method or query, needs a key."""
    assert matched("GET", "/health").route.public
    assert not matched(method, path).route.public


def test_head_is_judged_as_the_get_route() -> None:
    """HEAD on a GET route is the same operation for the same owner."""
    match = matched("HEAD", "/v1/runs/r1")
    assert (match.route.method, match.route.operation, match.route.owned) == ("HEAD", "run.read", OWNED)


def test_options_that_is_no_preflight_is_a_known_operation() -> None:
    """OPTIONS on a known path needs a key and nothing more."""
    match = matched("OPTIONS", "/v1/runs")
    assert (match.route.operation, match.route.scope, match.known) == (OPTIONS, Scope.STATUS, True)


def test_wrong_method_is_405_with_the_allowed_ones() -> None:
    """The message and the Allow list name what the path takes, prefixed or not; the envelope is the path's."""
    for path in ("/v1/runs", "/p/x/v1/runs"):
        denied = PROFILE.match("GET", target(path))
        assert isinstance(denied, Deny)
        assert (denied.status, denied.code) == (405, "herma.route.method")
        assert "POST" in denied.message
        assert PROFILE.allowed_methods(target(path)) == ("POST",)
    assert PROFILE.allowed_methods(target("/v1/runs/r1")) == ("GET", "HEAD")
    assert PROFILE.allowed_methods(target("/nothing")) == ()


def test_closed_route_is_refused_whoever_asks() -> None:
    """A route that the upstream authenticates itself stays closed, below a prefix too."""
    for path in ("/api/cron/fire", "/p/x/api/cron/fire"):
        denied = PROFILE.match("POST", target(path))
        assert isinstance(denied, Deny)
        assert (denied.status, denied.code) == (403, "herma.route.closed")


def test_envelope_is_known_without_a_match() -> None:
    """Also a refusal that the matching decided has the shape of its path."""
    assert PROFILE.envelope_for(target("/api/cron/fire")) is Envelope.FLAT
    assert PROFILE.envelope_for(target("/p/x/api/jobs/new/thing")) is Envelope.FLAT
    assert PROFILE.envelope_for(target("/nothing")) is Envelope.OPENAI


def test_unknown_route_is_inspected_with_everything() -> None:
    """It needs `run`, is no public route, binds session headers and has its whole body read as prompt text."""
    match = matched("POST", "/v2/whatever")
    route = match.route
    assert not match.known
    assert (route.operation, route.scope, route.public) == (UNKNOWN, Scope.RUN, False)
    assert (route.text, route.checks, route.headers) == (("",), ("cron",), PROFILE.headers)
    assert match.params == {}


@pytest.mark.parametrize(
    ("method", "turn"),
    [
        ("POST", Turn.OPEN),
        ("PUT", Turn.OPEN),
        ("PATCH", Turn.OPEN),
        ("GET", Turn.NONE),
        ("DELETE", Turn.NONE),
    ],
)
def test_unknown_route_that_may_start_a_turn_takes_a_slot(method: str, turn: Turn) -> None:
    """A new turn-starting route of the upstream cannot go round the concurrency gate."""
    assert matched(method, "/v2/whatever").route.turn is turn


@pytest.mark.parametrize("path", ["/v1/runs/r1/newverb", "/v1/runs/r1/", "/p/x/v1/runs/r1/a/b"])
def test_unknown_route_of_a_run_keeps_its_owner(path: str) -> None:
    """A verb that the profile does not know still belongs to the key that started the run."""
    match = matched("POST", path)
    assert not match.known
    assert match.route.owned == OWNED
    assert (match.params, match.route.run_param) == ({"run_id": "r1"}, "run_id")


def test_unknown_route_of_a_family_keeps_scope_and_shape() -> None:
    """A new job route needs the scope of jobs; a path that only looks alike does not match the family."""
    match = matched("POST", "/api/jobs/j1/newverb")
    assert (match.route.scope, match.route.envelope) == (Scope.CRON, Envelope.FLAT)
    assert matched("POST", "/v1/runs/").route.owned is None
    assert matched("GET", "/api/jobsx").route.scope is Scope.RUN


def test_prefix_is_taken_off_once() -> None:
    """What stands behind two prefixes is no known route, upstream neither."""
    match = matched("GET", "/p/a/p/b/health")
    assert not match.known
    assert match.profile_prefix == "a"
    assert not matched("GET", "/p/a").known


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("GET", "/health", True),
        ("GET", "/v1/runs/{id}", True),
        ("POST", "/v1/runs/{id}", False),
        ("GET", "/v1/new", False),
        ("GET", "no path", False),
        ("GET", "/a//b", False),
    ],
)
def test_profile_knows_routes_by_template(method: str, path: str, known: bool) -> None:
    """Names of parameters do not matter; what is no path is not known."""
    assert PROFILE.knows(method, path) is known


def test_drift_lists_what_is_announced_and_not_known() -> None:
    """Every announced route is either in the profile or in the report, once, in order."""
    announced = [
        ("GET", "/health"),
        ("POST", "/v1/new"),
        ("DELETE", "/v1/new"),
        ("POST", "/v1/new"),
        ("GET", "???"),
    ]
    assert undeclared(PROFILE, announced) == ("DELETE /v1/new", "GET ???", "POST /v1/new")
    assert undeclared(PROFILE, []) == ()


def test_end_of_a_run_is_read_from_its_status() -> None:
    """Only the states that the profile lists are ends; anything else in their place is none."""
    status = RunStatus("/v1/runs/{run_id}", "/status", frozenset({"completed"}))
    assert status.is_end({"status": "completed"})
    assert not status.is_end({"status": "running"})
    assert not status.is_end({"status": ["completed"]})
    assert not status.is_end([])


_PARTS = st.lists(
    st.sampled_from(
        ["p", "x", "v1", "runs", "health", "api", "jobs", "cron", "fire", "%6Aobs", "HEALTH", ""]
    ),
    max_size=7,
)


@given(parts=_PARTS, method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"]))
def test_matching_is_total_and_closed_by_default(parts: list[str], method: str) -> None:
    """Every accepted target is a match or a refusal; nothing but the exact health path is public or closed-free."""
    found = canonical_target(("/" + "/".join(parts)).encode())
    if isinstance(found, Deny):
        return
    match = PROFILE.match(method, found)
    if isinstance(match, Match):
        assert match.route.public is ((method, found.path) == ("GET", "/health"))
        assert match.route.operation != "cron.fire"
        assert match.known is (match.route.operation != UNKNOWN)


def test_an_encoded_slash_is_taken_where_a_route_expects_one_only() -> None:
    """Anywhere else, in a prefix, or with another method, the path has no single meaning."""
    model = Route("GET", "/v1/models/{model}", "models.read", Scope.READ, encoded_slash=True)
    other = Route("GET", "/v1/runs/{run_id}", "run.read", Scope.READ)
    profile = Profile("p", "1", (model, other), prefixes=("/p/{profile}",))
    for path in ("/v1/models/org%2Fmodel", "/p/team/v1/models/org%2fmodel"):
        found = profile.match("GET", target(path))
        assert isinstance(found, Match)
        assert found.params["model"] == "org/model"
    for method, path in (
        ("GET", "/v1/runs/a%2Fb"),
        ("GET", "/v1%2Fmodels/x"),
        ("GET", "/p/a%2Fb/v1/models/x"),
        ("POST", "/v1/models/a%2Fb"),
        ("GET", "/nope/a%2Fb"),
    ):
        denied = profile.match(method, target(path))
        assert isinstance(denied, Deny)
        assert (denied.status, denied.close) == (400, True)


def test_a_strict_profile_takes_only_what_it_names() -> None:
    """Whatever the configuration says of unknown routes."""
    strict = replace(PROFILE, strict=True)
    assert isinstance(strict.match("GET", target("/api/jobs")), Match)
    found = strict.match("GET", target("/api/jobs/x/y"))
    assert isinstance(found, Deny)
    assert (found.status, found.code) == (404, "herma.route.unknown")
    assert strict.envelope_for(target("/api/jobs/x/y")) is Envelope.FLAT
