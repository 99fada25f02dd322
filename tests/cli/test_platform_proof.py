"""Proofs of own platforms."""

from pathlib import Path

import pytest

from herma.cli.platform_proof import egress_place, prove_platforms, unproved_platforms
from herma.config.settings import Content
from herma.config.values import FilePath
from herma.content.library import Library
from support.platform_file import PLATFORM

SHIPPED = Library()
SECRET = "F4keK3yF0rT3st"
MODELS = "providers:\n  - {name: tiny, hosts: [llm.example.com]}\n"


def put(directory: Path, text: str = PLATFORM, name: str = "tiny") -> Path:
    place = directory / "egress"
    place.mkdir(exist_ok=True)
    (place / f"{name}.yaml").write_text(text)
    return place


def told(place: Path, library: Library = SHIPPED) -> list[str]:
    return [str(one).replace(str(place), "DIR") for one in prove_platforms(place, library)[1]]


def test_a_right_platform_is_proved(tmp_path: Path) -> None:
    """With nothing to tell, also with hosts of models beside it, or only with those."""
    place = put(tmp_path)
    put(tmp_path, MODELS, "model-providers")
    found, problems = prove_platforms(place, SHIPPED)
    assert ([file.platform.id for file in found], problems) == (["tiny"], [])
    (place / "tiny.yaml").unlink()
    assert prove_platforms(place, SHIPPED) == ([], [])
    (place / "model-providers.yaml").write_text("providers:\n  - {name: tiny, hosts: []}\n")
    assert told(place) == ["DIR/model-providers.yaml:2:25: platform.invalid: expected a host"]


def test_services_are_proved_beside_platforms(tmp_path: Path) -> None:
    """Reading them is their proof."""
    place = put(tmp_path)
    put(tmp_path, "services: [{name: tiny, hosts: [api.example.org]}]", "services")
    assert told(place) == []
    (place / "services.yaml").write_text("services:\n  - {name: tiny, hosts: []}\n")
    assert told(place) == ["DIR/services.yaml:2:25: platform.invalid: expected a host"]


def test_platforms_that_ship_are_proved() -> None:
    """Reading them alone would not tell."""
    assert list(unproved_platforms(SHIPPED.platform_files(), SHIPPED)) == []
    assert list(unproved_platforms((), SHIPPED)) == []


WRONG: dict[str, tuple[str, str, str]] = {
    "a secret that is sent": (
        "export DEPLOY_TOKEN=",
        "what I had is ",
        "8:5: platform.unproved: the secret of this example is sent",
    ),
    "more than the secret": (
        "export DEPLOY_TOKEN=F4keK3yF0rT3st",
        f"export A_TOKEN=Z9q7F4keV4lueF0rT3st DEPLOY_TOKEN={SECRET}",
        "8:5: platform.unproved: more of this example is masked than its secret",
    ),
    "one that is masked": (
        "message: hello",
        f"message: 'export DEPLOY_TOKEN={SECRET}'",
        "9:5: platform.unproved: this example is masked; name in `in_use` what the platform gave out",
    ),
    "a form with two readings": (
        "{message: hello, path: /a,",
        "{method: POST, path: /a, type: multipart/form-data, body: x,",
        "9:5: platform.unproved: this example can be read in more than one way, and would be refused",
    ),
    "an id that is taken": ("id: tiny", "id: slack", " platform.invalid: the id is taken by"),
    "a host that is taken": (
        "chat.example.com,",
        "api.telegram.org,",
        " platform.invalid: the host api.telegram.org is one of 'telegram' already",
    ),
    "an unknown key": ("title: Tiny", "titel: Tiny", "2:8: platform.invalid: unknown key"),
}


@pytest.mark.parametrize(("was", "now", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, was: str, now: str, said: str) -> None:
    """As an editor jumps to it."""
    text = PLATFORM.replace(was, now, 1)
    assert text != PLATFORM
    name = "slack" if "id: slack" in text else "tiny"
    (problem,) = told(put(tmp_path, text, name))
    assert problem.startswith(f"DIR/{name}.yaml:{said}")
    assert SECRET not in problem


def test_a_form_is_compared_decoded(tmp_path: Path) -> None:
    """What changes in it is written in another way."""
    form = f"{{method: POST, path: /a, type: application/x-www-form-urlencoded, body: 'text=export+DEPLOY_TOKEN%3D{SECRET}', secret: {SECRET}, masked: true}}"
    text = PLATFORM + f"  - {form}\n"
    assert told(put(tmp_path, text)) == []


def test_a_directory_of_the_library_is_not_in_its_own_way(tmp_path: Path) -> None:
    """Its files are read already."""
    place = put(tmp_path)
    assert told(place, Library(Content(rules_dirs=(FilePath(str(tmp_path)),)))) == []
    assert told(Path(str(SHIPPED.base)) / "egress") == []


def test_platforms_stand_in_a_directory_of_their_own(tmp_path: Path) -> None:
    """Which can be named itself."""
    assert egress_place(tmp_path) is None
    place = put(tmp_path)
    assert egress_place(tmp_path) == place
    assert egress_place(place) == place
