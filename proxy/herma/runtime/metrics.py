"""The tally and the readings of the moment as Prometheus metrics."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from herma.runtime.tally import BUCKETS_S, Tally

__all__ = ["render"]

# Metric by the first part of a tally's key: its name, what it counts, its labels.
_COUNTERS = {
    "exchanges": ("herma_exchanges", "Finished exchanges", ("operation", "status", "outcome")),
    "denials": ("herma_denials", "Refusals by code", ("code",)),
    "findings": ("herma_findings", "Rules that applied", ("rule",)),
    "redactions": ("herma_redactions", "Secrets masked in answers", ()),
    "bytes": ("herma_bytes", "Body bytes", ("direction",)),
    "egress_requests": (
        "herma_egress_requests",
        "Requests, tunnels and messages of the agent",
        ("kind", "outcome", "code"),
    ),
    "egress_bytes": ("herma_egress_bytes", "Body bytes of the agent", ()),
    "egress_redactions": ("herma_egress_redactions", "Secrets masked in what the agent sends", ()),
    "egress_failed": ("herma_egress_failed_hooks", "Hooks that failed, and shut", ("hook", "kind")),
    "events": ("herma_events", "Things that happened", ("event", "label")),
}
# Readings of the moment of the egress gate, where there is one.
_EGRESS = {
    "up": "Whether the egress gate is up",
    "restarts": "How often the egress gate was started again",
    "connections": "Open connections of the agent",
    "held_bytes": "Bytes of bodies that are held",
}


class _TallyCollector(Collector):
    def __init__(
        self,
        tally: Tally,
        readings: Mapping[str, float],
        upstreams: Mapping[str, Mapping[str, float]],
        egress: Mapping[str, float],
    ) -> None:
        self._tally = tally
        self._readings = readings
        self._upstreams = upstreams
        self._egress = egress

    def collect(self) -> Iterator[Metric]:
        families = {
            key: CounterMetricFamily(name, text, labels=labels)
            for key, (name, text, labels) in _COUNTERS.items()
        }
        buckets: dict[str, list[float]] = {}
        sums: dict[str, float] = {}
        for key, amount in self._tally.sums.items():
            name, labels = key[0], list(key[1:])
            if name in families:
                families[name].add_metric(labels, amount)
            elif name == "seconds_sum":
                sums[labels[0]] = amount
            else:
                buckets.setdefault(labels[0], [0.0] * (len(BUCKETS_S) + 1))[int(labels[1])] += amount
        yield from families.values()
        yield _histogram(buckets, sums)
        gauge = GaugeMetricFamily("herma_state", "Readings of the moment", labels=("reading",))
        for name, value in self._readings.items():
            gauge.add_metric([name], value)
        yield gauge
        gauge = GaugeMetricFamily(
            "herma_upstream", "Readings of the moment of each upstream", labels=("upstream", "reading")
        )
        for upstream, found in self._upstreams.items():
            for name, value in found.items():
                gauge.add_metric([upstream, name], value)
        yield gauge
        for name, value in self._egress.items():
            gauge = GaugeMetricFamily(f"herma_egress_{name}", _EGRESS[name])
            gauge.add_metric([], value)
            yield gauge


def _histogram(buckets: dict[str, list[float]], sums: dict[str, float]) -> HistogramMetricFamily:
    family = HistogramMetricFamily("herma_exchange_seconds", "Duration of an exchange", labels=("operation",))
    bounds = [*(str(bound) for bound in BUCKETS_S), "+Inf"]
    for operation, counts in buckets.items():
        running, rows = 0.0, []
        for bound, count in zip(bounds, counts, strict=True):
            running += count
            rows.append((bound, running))
        family.add_metric([operation], rows, sums.get(operation, 0.0))
    return family


def render(
    tally: Tally,
    readings: Mapping[str, float],
    upstreams: Mapping[str, Mapping[str, float]],
    egress: Mapping[str, float] = MappingProxyType({}),
) -> bytes:
    """Return the text exposition format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_TallyCollector(tally, readings, upstreams, egress))
    return generate_latest(registry)
