"""The floors: how many cases of each measure may be wrong. They only go down by themselves.

`make quality RATCHET=write` lowers what became better. To accept a figure that became worse, edit the file, and say why in
the commit.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from quality.measure import Measure, Measures

__all__ = ["FILE", "load", "lowered", "problems", "write"]

FILE = Path(__file__).parent / "ratchet.json"

# Groups of a handful of lines each: their sums are held, and the page shows them.
_NOT_HELD = {"class", "embedding", "kind", "lang"}
type Floors = Mapping[str, Mapping[str, int]]


def load(path: Path = FILE) -> Floors:
    """Read the floors; none if the file is not there."""
    floors: Floors = json.loads(path.read_text()) if path.exists() else {}
    return floors


def _held(measures: Measures) -> Mapping[str, Measure]:
    return {
        key: measure
        for key, measure in measures.items()
        if not measure.apart and _NOT_HELD.isdisjoint(key.split("/"))
    }


def problems(measures: Measures, floors: Floors) -> list[str]:
    """Say which measures are below their floor, by how much and by which cases, and which have no floor of their own."""
    held = _held(measures)
    found = [f"{key}: has a floor and is no longer measured" for key in floors.keys() - held.keys()]
    for key, measure in held.items():
        floor = floors.get(key)
        if floor is None:
            found.append(f"{key}: has no floor; `make quality RATCHET=write` sets it")
        elif floor["of"] != measure.of:
            found.append(
                f"{key}: {measure.of} cases, the floor is for {floor['of']}; `make quality RATCHET=write` sets it anew"
            )
        elif len(measure.wrong) > floor["wrong"]:
            found.append(
                f"{key}: {len(measure.wrong)} wrong, at most {floor['wrong']} of {measure.of} may be:"
                f" {' '.join(measure.wrong)}"
            )
    return sorted(found)


def lowered(measures: Measures, floors: Floors) -> Floors:
    """Give the floors after this measurement: the better of the two, and what was measured where the cases are others."""
    new = {}
    for key, measure in sorted(_held(measures).items()):
        old = floors.get(key)
        wrong = len(measure.wrong)
        if old is not None and old["of"] == measure.of:
            wrong = min(wrong, old["wrong"])
        new[key] = {"wrong": wrong, "of": measure.of}
    return new


def write(floors: Floors, path: Path = FILE) -> None:
    """Write the floors, one measure a line."""
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in floors.items())
    path.write_text(f"{{\n{rows}\n}}\n")
