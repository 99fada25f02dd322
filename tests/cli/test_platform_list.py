"""Platforms, the hosts of models and the services are listed."""

from pathlib import Path

from herma.cli.platform_list import (
    models_line,
    models_summary,
    platform_line,
    platform_summary,
    services_line,
    services_summary,
)
from herma.content.egress import read_platforms
from herma.content.library import Library
from support.platform_file import PLATFORM


def test_a_platform_stands_on_a_line(tmp_path: Path) -> None:
    """One that waits for its hosts says where they are named."""
    (tmp_path / "tiny.yaml").write_text(PLATFORM)
    (file,) = read_platforms(tmp_path)
    assert platform_line(file).split() == ["egress", "tiny", "platform", "Tiny"]
    summary = platform_summary(file)
    assert summary["hosts"] == ["chat.example.com", "*.chat.example.com:8443", "[2001:db8::1]"]
    assert (summary["self_hosted"], summary["file"]) == (False, str(tmp_path / "tiny.yaml"))
    (own,) = (one for one in Library().platform_files() if one.platform.id == "mattermost")
    assert platform_line(own).endswith("(hosts: `egress.platforms`)")


def test_hosts_of_models_are_one_entry() -> None:
    """And none when there are none."""
    library = Library()
    (summary,) = models_summary(library.models(), library)
    assert "*.api.openai.com" in summary["hosts"]
    assert summary["file"].endswith("model-providers.yaml")
    assert models_line(library.models())[0].split()[:3] == ["egress", "model-providers", "models"]
    assert (models_summary((), library), models_line(())) == ([], ())


def test_services_are_one_entry() -> None:
    """And none when there are none."""
    library = Library()
    (summary,) = services_summary(library.services(), library)
    assert "api.github.com" in summary["hosts"]
    assert summary["file"].endswith("services.yaml")
    assert services_line(library.services())[0].split()[:3] == ["egress", "services", "services"]
    assert (services_summary((), library), services_line(())) == ([], ())
