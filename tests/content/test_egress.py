"""Platforms and model providers are read strictly, and each platform's examples prove what is masked and what is not."""

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from herma.content.egress import (
    MODELS,
    SERVICES,
    PlatformExample,
    PlatformFile,
    load_models,
    load_platforms,
    load_services,
    read_platforms,
)
from herma.content.library import Library
from herma.content.shipped import data_dir
from herma.errors import ContentError
from herma.policy.egress.destination import Destination
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Outbound, Outward, Sent
from herma.policy.egress.platform import InUse, Platforms
from herma.policy.egress.service import Service, Services
from herma.policy.egress.watched import Watched
from herma.policy.secret import Secret

SHIPPED = Path(str(data_dir("rules/egress")))
FILES = read_platforms(SHIPPED)
KEY = Secret(b"fake-fingerprint-key-of-the-suite")
REDACTOR = Library().redactor(KEY)
MASKER = Masker(REDACTOR)
EXAMPLES = [
    pytest.param(file, example, id=f"{file.platform.id}-{index}")
    for file in FILES
    for index, example in enumerate(file.examples)
]
MINIMAL = """\
id: tiny
title: Tiny
description: One.
references: ['https://docs.example.com/']
hosts: [api.example.com]
in_use: [/file_id]
routes:
  - {path: '/bot{token}/**', in_use: [/key]}
examples:
  - {method: POST, path: /a, type: text/plain, body: 'export DEPLOY_TOKEN=F4keK3yF0rT3st', secret: F4keK3yF0rT3st, masked: true}
  - {message: hello, path: /a, masked: false}
"""
PROVIDERS = "providers:\n  - {name: tiny, hosts: [llm.example.com, '*.llm.example.com']}\n"


def written(directory: Path, text: str, name: str = "tiny") -> Path:
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.yaml").write_text(text)
    return directory


def sent(file: PlatformFile, example: PlatformExample) -> tuple[str, str]:
    """Give the query and the body, as the platform gets them."""
    path, _, query = example.path.partition("?")
    in_use = Platforms([file.platform]).in_use(file.platform, path)
    if example.socket:
        return query, MASKER.text(example.body.encode(), in_use)[0].decode()
    body, _ = MASKER.body(example.body.encode(), example.type.encode(), in_use)
    return MASKER.pairs(query.encode(), in_use)[0].decode(), body.decode()


@pytest.mark.parametrize(("file", "example"), EXAMPLES)
def test_an_example_is_masked_or_left_as_it_says(file: PlatformFile, example: PlatformExample) -> None:
    """What is masked loses its secret and nothing else; what is not is the same byte for byte."""
    _, _, query = example.path.partition("?")
    masked_query, masked_body = sent(file, example)
    if not example.masked:
        assert (masked_query, masked_body) == (query, example.body)
        return
    before = (query, example.body)
    after = (masked_query, masked_body)
    if example.type == "application/x-www-form-urlencoded":
        before, after = (query, unquote_plus(example.body)), (masked_query, unquote_plus(masked_body))
    for was, now in zip(before, after, strict=True):
        assert example.secret not in now
        assert re.fullmatch(r"\S{1,80}".join(map(re.escape, was.split(example.secret))), now, re.DOTALL)


@pytest.mark.parametrize(("file", "example"), EXAMPLES)
def test_no_example_is_refused(file: PlatformFile, example: PlatformExample) -> None:
    """What a mask does not reach is refused, and in none of them there is any."""
    path, _, _ = example.path.partition("?")
    place = Destination("platform.example", 443)
    here = replace(file.platform, hosts=(HostPattern.parse(place.name),))
    judge = Outward(
        Platforms([here]), [], MASKER, Exfiltration(REDACTOR, Watched.of(KEY, ["A=n0-such-value"]))
    )
    headers = ((b"Content-Type", example.type.encode()),)
    asked = Outbound(place, example.method, example.path.encode(), headers, example.body.encode())
    judged = judge.message(place, path.encode(), asked.body) if example.socket else judge.request(asked)
    assert isinstance(judged, Sent), judged
    assert bool(judged.findings) is example.masked


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.platform.id)
def test_no_platform_exempts_what_people_read(file: PlatformFile) -> None:
    """Texts, captions and cards are masked at every path that a platform names."""
    platform = file.platform
    places = [InUse((*platform.in_use, *(place for route in platform.routes for place in route.in_use)))]
    for name in ("text", "content", "caption", "message", "title", "value", "description", "subject", "html"):
        for pointer in (f"/{name}", f"/blocks/0/text/{name}", f"/embeds/0/{name}", f"/messages/0/{name}"):
            assert not any(place.covers(pointer) for place in places), pointer


def test_shipped_platforms_have_hosts_of_their_own() -> None:
    """A host is one platform's, and none of them is left to itself as one that serves models."""
    platforms = load_platforms(SHIPPED)
    models = load_models(SHIPPED)
    assert {"telegram", "discord", "slack", "matrix", "teams", "whatsapp-cloud"} <= {
        one.id for one in platforms
    }
    for platform in platforms:
        others = [host for one in platforms if one is not platform for host in one.hosts]
        for host in platform.hosts:
            assert not covered((*others, *models), host.name, 443), host


def test_hosts_that_serve_models_are_read() -> None:
    """By their names, with regions written out; what anybody can write to for others is none."""
    models = load_models(SHIPPED)
    for name in ("api.openai.com", "api.anthropic.com", "openrouter.ai", "x.openai.azure.com", "ollama.com"):
        assert covered(models, name, 443), name
    assert covered(models, "bedrock-runtime.eu-central-1.amazonaws.com", 443)
    for name in ("api.github.com", "huggingface.co", "storage.googleapis.com", "s3.us-east-1.amazonaws.com"):
        assert not covered(models, name, 443), name


def test_what_runs_on_hosts_of_its_own_is_there_when_they_are_named(tmp_path: Path) -> None:
    """Without hosts it is left out; hosts are added to those of any platform."""
    assert "mattermost" not in {one.id for one in load_platforms(SHIPPED)}
    found = {
        one.id: one
        for one in load_platforms(
            SHIPPED,
            {"mattermost": ["chat.example.com:8065"], "telegram": ["tg.example.com"]},
            [written(tmp_path, MINIMAL)],
        )
    }
    assert found["mattermost"].hosts == (HostPattern("chat.example.com", port=8065),)
    assert HostPattern("tg.example.com") in found["telegram"].hosts
    assert HostPattern("api.telegram.org") in found["telegram"].hosts
    assert found["tiny"].hosts == (HostPattern("api.example.com"),)


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        pytest.param({"none": ["a.example.com"]}, "no such platform: 'none'", id="unknown platform"),
        pytest.param({"telegram": ["*"]}, "telegram: expected a host", id="everybody"),
        pytest.param({"signal": ["api.telegram.org"]}, "is one of 'signal' already", id="taken"),
    ],
)
def test_hosts_that_cannot_be_used_are_refused(hosts: dict[str, list[str]], said: str) -> None:
    """A host that would be nobody's, everybody's or another's is told."""
    with pytest.raises(ContentError, match=said):
        load_platforms(SHIPPED, hosts)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param("id: tiny", "id: other", "tiny.yaml:1:5: the id must be the file's name", id="name"),
        pytest.param("title: Tiny\n", "", "the key 'title' is missing", id="missing"),
        pytest.param("title: Tiny", "titel: Tiny", "tiny.yaml:2:8: unknown key", id="unknown"),
        pytest.param("title: Tiny", "title: [", "tiny.yaml:", id="no YAML"),
        pytest.param("['https://docs.example.com/']", "[]", "where the platform describes", id="references"),
        pytest.param("[api.example.com]", "[]", "expected a host", id="no host"),
        pytest.param("[api.example.com]", "['*']", "expected a host as in", id="everybody"),
        pytest.param("hosts: [", "self_hosted: true\nhosts: [", "whoever runs it names them", id="own host"),
        pytest.param("[/file_id]", "[file_id]", "tiny.yaml:6:10: expected a JSON Pointer", id="pointer"),
        pytest.param("[/file_id]", "['/**']", "this one is whole messages", id="whole"),
        pytest.param("[/file_id]", "['/content#/**']", "this one is whole messages", id="whole text"),
        pytest.param("'/bot{token}/**'", "bot", "starts with a slash", id="path"),
        pytest.param("masked: false", "masked: true", "names its secret", id="no secret"),
        pytest.param("secret: F4keK3yF0rT3st", "secret: other", "names its secret", id="other secret"),
        pytest.param("{method: POST, path", "{path", "either the method", id="neither"),
        pytest.param("  - {message: hello, path: /a, masked: false}\n", "", "one that is left", id="proof"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    """Nothing is guessed: what is unknown, missing or too wide is an error."""
    assert old in MINIMAL
    with pytest.raises(ContentError, match=re.escape(said)):
        read_platforms(written(tmp_path, MINIMAL.replace(old, new)))


def test_a_directory_without_platforms_is_an_error_and_an_id_is_taken_once(tmp_path: Path) -> None:
    """Without platforms nothing would be masked; with two of one id nobody knows which."""
    with pytest.raises(ContentError, match="no platforms here"):
        read_platforms(written(tmp_path / "empty", PROVIDERS, MODELS))
    places = [written(tmp_path / name, MINIMAL) for name in ("one", "two")]
    with pytest.raises(ContentError, match="the id is taken by"):
        read_platforms(places[0], places[1:])


def test_own_hosts_of_models_are_added(tmp_path: Path) -> None:
    """A directory of one's own may have a list; the shipped one must."""
    own = written(tmp_path / "own", PROVIDERS, MODELS)
    assert load_models(SHIPPED, [own, tmp_path])[-2:] == (
        HostPattern("llm.example.com"),
        HostPattern("llm.example.com", below=True),
    )
    with pytest.raises(ContentError, match="cannot be read"):
        load_models(tmp_path)
    with pytest.raises(ContentError, match="expected a host"):
        load_models(written(tmp_path / "none", "providers:\n  - {name: a, hosts: []}\n", MODELS))


def test_services_that_ask_for_keys_are_read() -> None:
    """Those of the agent's tools; none is a host where anybody gets a name of their own."""
    services = Services(load_services(SHIPPED))
    for name in ("api.github.com", "api.tavily.com", "api.exa.ai", "api.notion.com", "api.airtable.com"):
        assert services.at(name, 443) is not None, name
    for name in ("me.github.io", "bucket.s3.amazonaws.com", "x.workers.dev", "storage.googleapis.com"):
        assert services.at(name, 443) is None, name
    tavily = services.at("api.tavily.com", 443)
    assert tavily is not None
    assert [place.covers("/api_key") for place in tavily.places] == [True]
    fal = services.at("fal.run", 443)
    assert fal is not None
    assert fal.fields == frozenset({b"authorization"})


def test_no_service_is_another_destination_already() -> None:
    """A list that says otherwise would not be read."""
    others = [host for one in load_platforms(SHIPPED) for host in one.hosts]
    for service in load_services(SHIPPED):
        for host in service.hosts:
            assert not covered((*others, *load_models(SHIPPED)), host.name, 443), host


def test_own_services_are_added(tmp_path: Path) -> None:
    """And a directory may have none at all: all are strangers then."""
    own = written(tmp_path / "own", "services: [{name: a, hosts: [a.example.com], fields: [x-a]}]", SERVICES)
    assert load_services(SHIPPED, [own, tmp_path])[-1] == Service(
        "a", (HostPattern("a.example.com"),), fields=(b"x-a",)
    )
    assert load_services(tmp_path) == ()


@pytest.mark.parametrize(
    ("service", "wrong"),
    [
        ("{name: a, hosts: []}", "expected a host"),
        ("{name: a, hosts: ['*']}", "expected a host as in"),
        ("{name: a, hosts: [a.example.com], in_use: [key]}", "expected a JSON Pointer"),
        ("{name: a, hosts: [a.example.com], in_use: ['/**']}", "whole messages"),
        ("{name: a, hosts: [a.example.com], fields: [X-Key]}", "in lower case"),
        ("{name: a, hosts: [a.example.com], paths: [/a]}", "unknown key"),
    ],
)
def test_a_service_that_cannot_be_read_is_told(tmp_path: Path, service: str, wrong: str) -> None:
    """None is made of half of it."""
    with pytest.raises(ContentError, match=re.escape(wrong)):
        load_services(written(tmp_path / "bad", f"services:\n  - {service}\n", SERVICES))


# Hosts of providers to which their key may go, but which are looked through all the same.
LOOKED_THROUGH = {
    "api.github.com": "anybody's notes and repositories are written there",
    "huggingface.co": "anybody's files are kept there",
    "*.openrouter.ai": "no model answers below the name",
    "kilocode.ai": "the pages of the provider",
    "*.cognitiveservices.azure.com": "speech and pictures of any tenant, no model that the agent talks with",
    "*.inference.ai.azure.com": "deployments of any tenant",
    "*-aiplatform.googleapis.com": "written out by region",
    "bedrock-runtime.*.amazonaws.com": "written out by region",
    "bedrock-runtime-fips.*.amazonaws.com": "a pattern has no place for the region",
    "bedrock-mantle.*.api.aws": "a pattern has no place for the region",
}


def test_the_providers_of_addresses_are_the_providers_here() -> None:
    """A host that may have a provider's key serves models, or it is said why it is looked through."""
    rule = Library().rule("mcp-endpoint-key")
    assert rule is not None
    hosts = {host for fields in rule.options["providers"].values() for host in fields["hosts"]}
    assert hosts.issuperset(LOOKED_THROUGH)
    missing = {HostPattern.parse(host) for host in hosts - set(LOOKED_THROUGH)} - set(load_models(SHIPPED))
    assert not missing


def test_the_key_of_a_file_in_a_text_of_feishu_is_in_use() -> None:
    """A file is sent by the key that the platform gave it."""
    feishu = next(file.platform for file in FILES if file.platform.id == "feishu")
    body = b'{"msg_type": "file", "content": "{\\"file_key\\": \\"file_v2_f4e0c0ff-fee1-4ead-f4e0-c0fffee1deag\\"}"}'
    in_use = Platforms([feishu]).in_use(feishu, "/open-apis/im/v1/messages")
    assert MASKER.body(body, b"application/json", in_use)[0] == body
