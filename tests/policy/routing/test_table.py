"""Paths are looked up exactly, segment by segment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.grant import Scope
from herma.policy.routing.route import Route
from herma.policy.routing.table import OPTIONS, RouteTable, bind, split_template


def route(method: str, template: str, *, public: bool = False) -> Route:
    return Route(method, template, "test", Scope.READ, public=public)


TABLE = RouteTable([
    route("GET", "/"),
    route("GET", "/health", public=True),
    route("GET", "/v1/runs/{run_id}"),
    route("DELETE", "/v1/runs/{run_id}"),
    route("GET", "/v1/runs/stats"),
    route("POST", "/v1/{kind}/{run_id}/stop"),
    route("POST", "/v1/runs/{run_id}/{verb}"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("path", "template", "params"),
    [
        ("/", "/", {}),
        ("/health", "/health", {}),
        ("/v1/runs/abc", "/v1/runs/{run_id}", {"run_id": "abc"}),
        ("/v1/runs/stats", "/v1/runs/stats", {}),
        ("/v1/runs/abc/stop", "/v1/{kind}/{run_id}/stop", {"kind": "runs", "run_id": "abc"}),
        ("/v1/runs/abc/steer", "/v1/runs/{run_id}/{verb}", {"run_id": "abc", "verb": "steer"}),
        ("/v1/runs/{run_id}", "/v1/runs/{run_id}", {"run_id": "{run_id}"}),
    ],
)
def test_path_is_found(path: str, template: str, params: dict[str, str]) -> None:
    """The most literal template wins, and parameters are the path's own segments."""
    segments = tuple(path.split("/")[1:])
    entry = TABLE.find(segments)
    assert entry is not None
    assert next(iter(entry.by_method.values())).template == template
    assert entry.params(segments) == params


@pytest.mark.parametrize(
    "path",
    [
        "/health/",
        "/Health",
        "/HEALTH",
        "/healthz",
        "/v1/runs",
        "/v1/runs/",
        "/v1/runs/abc/",
        "/v1/runs/abc/stop/x",
        "/x",
        "/v1",
    ],
)
def test_other_paths_are_not_found(path: str) -> None:
    """A trailing slash, another case, a longer or a shorter path is another path."""
    assert TABLE.find(tuple(path.split("/")[1:])) is None


def test_methods_of_an_entry() -> None:
    """HEAD goes with GET but is never public; OPTIONS is answered but not advertised."""
    entry = TABLE.find(("health",))
    assert entry is not None
    assert entry.allowed == ("GET", "HEAD")
    assert entry.by_method["GET"].public
    assert not entry.by_method["HEAD"].public
    assert entry.by_method["OPTIONS"].operation == OPTIONS
    assert "PUT" not in entry.by_method


def test_post_only_path_has_no_head() -> None:
    """HEAD is not invented where there is no GET."""
    entry = TABLE.find(("v1", "runs", "abc", "stop"))
    assert entry is not None
    assert entry.allowed == ("POST",)


def test_declared_head_is_kept() -> None:
    """A profile that names HEAD itself is believed."""
    entry = RouteTable([route("GET", "/a"), Route("HEAD", "/a", "other", Scope.ADMIN)]).find(("a",))
    assert entry is not None
    assert entry.by_method["HEAD"].operation == "other"


def test_template_is_found_whatever_its_parameters_are_called() -> None:
    """Drift is about paths, not about names of parameters."""
    assert TABLE.by_template("/v1/runs/{id}") is TABLE.by_template("/v1/runs/{run_id}")
    assert TABLE.by_template("/v1/{x}") is None


@pytest.mark.parametrize(
    "routes",
    [
        [route("GET", "/a"), route("GET", "/a")],
        [route("GET", "/a/{x}"), route("GET", "/a/{y}")],
        [route("GET", "/a/{x}"), route("PUT", "/a/{y}")],
        [route("GET", "a")],
        [route("GET", "/a//b")],
        [route("GET", "/a/")],
        [route("GET", "")],
    ],
)
def test_ambiguous_table_is_refused(routes: list[Route]) -> None:
    """Two meanings for one request, or a template that no path has, stop the start."""
    with pytest.raises(ValueError, match=r"two routes|two names|path template"):
        RouteTable(routes)


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/p/x", {"name": "x"}),
        ("/p/x/y", {"name": "x"}),
        ("/p", None),
        ("/p/", None),
        ("/q/x", None),
    ],
)
def test_prefix_binds_the_first_segments(path: str, params: dict[str, str] | None) -> None:
    """A prefix matches literally but for its parameter, which is never empty."""
    assert bind(split_template("/p/{name}"), tuple(path.split("/")[1:])) == params


@given(
    st.lists(
        st.sampled_from(["", "health", "v1", "runs", "stats", "stop", "{}", "x"]), min_size=1, max_size=6
    )
)
def test_found_entry_fits_the_path(segments: list[str]) -> None:
    """Whatever is found has the length of the path and its literal parts, and binds no empty segment."""
    path = tuple(segments)
    entry = TABLE.find(path)
    if entry is not None:
        parts = split_template(next(iter(entry.by_method.values())).template)
        assert len(parts) == len(path)
        assert all(part.startswith("{") or part == segment for part, segment in zip(parts, path, strict=True))
        assert all(entry.params(path).values())
