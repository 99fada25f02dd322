"""The metrics page, as Prometheus reads it."""

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from herma.ingress import Record
from herma.runtime.metrics import render
from herma.runtime.tally import BUCKETS_S, Tally

type Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def _samples(page: bytes) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def _counted(*durations: float) -> Tally:
    tally = Tally()
    for duration in durations:
        record = Record("0123456789abcdef", 0.0, operation="run.start", status=200, bytes_in=2, bytes_out=3)
        record.redactions = 1
        tally.exchange(record, duration)
    return tally


def test_an_empty_page_is_a_page() -> None:
    """A gate that has served nothing yet is scraped without an error."""
    assert _samples(render(Tally(), {}, {})) == {}


def test_counters_have_their_names_and_labels() -> None:
    """What is counted is found under the names that dashboards use."""
    tally = _counted(0.1)
    tally.count("auth_failures", "expired", 4)
    tally.merge([(("denials", "herma.auth.required"), 2.0), (("findings", "rule-a"), 5.0)])
    found = _samples(render(tally, {}, {}))
    labels = (("operation", "run.start"), ("outcome", "answered"), ("status", "200"))
    assert found["herma_exchanges_total", labels] == 1
    assert found["herma_denials_total", (("code", "herma.auth.required"),)] == 2
    assert found["herma_findings_total", (("rule", "rule-a"),)] == 5
    assert found["herma_redactions_total", ()] == 1
    assert found["herma_bytes_total", (("direction", "in"),)] == 2
    assert found["herma_bytes_total", (("direction", "out"),)] == 3
    assert found["herma_events_total", (("event", "auth_failures"), ("label", "expired"))] == 4


def test_readings_of_the_moment_are_gauges() -> None:
    """What goes up and down is a gauge with one label, and one more for the upstream that it is about."""
    page = render(Tally(), {"slots_taken": 3}, {"default": {"up": 1.0}})
    gauges = [one for one in text_string_to_metric_families(page.decode()) if one.type == "gauge"]
    assert {one.name: [(sample.labels, sample.value) for sample in one.samples] for one in gauges} == {
        "herma_state": [({"reading": "slots_taken"}, 3)],
        "herma_upstream": [({"upstream": "default", "reading": "up"}, 1)],
    }


@settings(max_examples=40)
@given(durations=st.lists(st.floats(0, 5000), min_size=1, max_size=30))
def test_the_histogram_is_cumulative(durations: list[float]) -> None:
    """Each bucket holds all that was not longer; the last one and the count hold everything."""
    found = _samples(render(_counted(*durations), {}, {}))
    for bound in BUCKETS_S:
        key = "herma_exchange_seconds_bucket", (("le", str(bound)), ("operation", "run.start"))
        assert found[key] == sum(duration <= bound for duration in durations)
    assert found["herma_exchange_seconds_bucket", (("le", "+Inf"), ("operation", "run.start"))] == len(
        durations
    )
    assert found["herma_exchange_seconds_count", (("operation", "run.start"),)] == len(durations)
    assert abs(found["herma_exchange_seconds_sum", (("operation", "run.start"),)] - sum(durations)) < 1e-6


def test_pages_of_workers_add_up() -> None:
    """The page over the counts of two workers is the sum of their pages."""
    first, second, both = _counted(0.002, 40.0), _counted(0.3), Tally()
    pages = [_samples(render(tally, {}, {})) for tally in (first, second)]
    both.merge(first.take())
    both.merge(second.take())
    merged = _samples(render(both, {}, {}))
    for key in merged:
        assert merged[key] == sum(page.get(key, 0.0) for page in pages), key


@settings(max_examples=40)
@given(label=st.text(max_size=30))
def test_a_label_cannot_forge_a_line(label: str) -> None:
    """Whatever a label holds, the page has one sample with it."""
    tally = Tally()
    tally.count("event", label)
    lines = [line for line in render(tally, {}, {}).decode().split("\n") if line and not line.startswith("#")]
    assert len(lines) == 1


def test_the_egress_gate_has_readings_of_its_own() -> None:
    """They are there when there is a gate, each under its own name."""
    tally = Tally()
    tally.merge([(("egress_requests", "other", "denied", "herma.egress.secret"), 2.0)])
    tally.hook_failed("request", "ValueError")
    found = _samples(
        render(tally, {}, {}, {"up": 1.0, "restarts": 2.0, "connections": 3.0, "held_bytes": 4.0})
    )
    labels = (("code", "herma.egress.secret"), ("kind", "other"), ("outcome", "denied"))
    assert found["herma_egress_requests_total", labels] == 2
    assert found["herma_egress_failed_hooks_total", (("hook", "request"), ("kind", "ValueError"))] == 1
    assert {name: value for (name, _), value in found.items() if "total" not in name} == {
        "herma_egress_up": 1,
        "herma_egress_restarts": 2,
        "herma_egress_connections": 3,
        "herma_egress_held_bytes": 4,
    }
