"""What secrets are wrapped in, taken off."""

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.decode import DECODERS, _shell, wrapped
from herma.policy.redaction.glued import JOINTS, glued
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, masked

HALF = len(GITHUB) // 2
A, B = GITHUB[:HALF], GITHUB[HALF:]
WRAPPED = {
    "colour beside it": f"\x1b[33m{GITHUB}\x1b[0m",
    "colour inside it": f"{A}\x1b[m\x1b[K{B}",
    "hyperlink": f"\x1b]8;;http://h\x07{GITHUB}\x1b]8;;\x07",
    "zero-width characters": f"{A}\u200b{B}",
    "full-width letters": GITHUB.translate({ord(c): ord(c) + 0xFEE0 for c in "ghpF4keK"}),
    "line continuation": f"curl -H 'X: {A}\\\n{B}'",
    "adjacent quotes": f"export K='{A}''{B}'",
    "quotes of two kinds": f"export K='{A}'\"{B}\"",
    "a quoted middle": f'export K={A[:6]}"{A[6:]}"{B}',
    "concatenation in code": f'k = "{A}" + "{B}"',
    "a blank spelled IFS": f"tool${{IFS}}--token${{IFS}}{GITHUB}",
    "unicode escapes": "".join(f"\\u{ord(c):04x}" for c in GITHUB),
    "hex escapes": "printf '" + "".join(f"\\x{ord(c):02x}" for c in GITHUB) + "'",
    "an escaped line end before it": f"KEY\\n{GITHUB}",
    "JSON in JSON": f'{{\\"token\\": \\"{GITHUB}\\"}}',
    "percent": f"?u=https%3A%2F%2Fh%3Ft%3D{GITHUB}",
    "percent twice": f"?u=h%253Ft%253D{GITHUB}",
    "percent inside": GITHUB.replace("_", "%5F"),
    "entities": f"&quot;token&quot;:&quot;{GITHUB}&quot;",
    "numeric entities": GITHUB.replace("_", "&#95;").replace("K", "&#x4b;"),
    "turned round": f"echo '{GITHUB[::-1]}' | rev",
    "turned round in a here-string": f"rev <<< {GITHUB[::-1]}",
    "turned round in a quoted here-string": f'rev <<< "{GITHUB[::-1]}"',
    "arguments that are none": f"{A}$@{B[:3]}${{*}}{B[3:]}",
    "quotes on two lines": f'k = (\n    "{A}"\n    "{B}"\n)',
    "letters of Cyrillic": GITHUB.replace("p_", "\u0440_"),
    "a soft line break": f"{'a mail that goes on and ' * 3}x {GITHUB[:12]}=\n{GITHUB[12:]} bye",
    "base64 in lines": base64.encodebytes(
        f"{'some text before the ' * 4}{GITHUB} and behind".encode()
    ).decode(),
    "two variables": f"a={A}\nb={B}\nrun $a$b",
    "two events": f'data: {{"delta":{{"content":"{A}"}}}}\n\ndata: {{"delta":{{"content":"{B}"}}}}\n\n',
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED.keys())
def test_a_wrapped_secret_is_masked_with_the_fingerprint_of_the_bare_one(text: str) -> None:
    """Wrapping neither hides a secret nor makes another of it."""
    out = masked(text)
    assert masked(GITHUB) in out
    assert A not in out
    assert B not in out


def test_what_the_decoding_dropped_stays_where_it_was() -> None:
    """Quotes and line continuations are the structure of a command."""
    assert masked(f"export K='{A}''{B}' && x") == f"export K='{masked(GITHUB)}''' && x"
    assert masked(f'-H "X: {A}\\\n{B}" \\\n -d x') == f'-H "X: {masked(GITHUB)}\\\n" \\\n -d x'


@given(st.text(alphabet="ab.=+-_!# \"'\\\n\r${IFS}é", max_size=30))
def test_the_look_before_the_shell_view_misses_nothing(text: str) -> None:
    """Wherever there are joints or blanks to rewrite, the view is built."""
    assert (_shell(View(text)) is None) is (not glued(text, JOINTS.finditer(text)))


@given(st.text(alphabet="ab \"'\\\n\r%41&#x;+\x1b[m\u200b\uff41é你\ud800$IFSdata:", max_size=30))
def test_a_text_that_is_not_wrapped_has_no_view(text: str) -> None:
    """The short look never says no where a decoder would say yes."""
    assert wrapped(text) or all(decode(View(text), Work(len(text))) is None for decode in DECODERS)


@pytest.mark.parametrize("text", ["plain words, it has no sign", "Größe 你好 – “x”", 'a "quoted" word'])
def test_most_texts_are_not_wrapped(text: str) -> None:
    """Letters of any script and quotes around words are nothing to decode."""
    assert not wrapped(text)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: "".join(f"&#X{ord(sign):06X};" for sign in text),
        lambda text: "".join(f"&#{ord(sign):05d};" for sign in text),
        lambda text: "".join(f"={ord(sign):02X}" for sign in text),
        lambda text: "a=3D1 " + text.replace("_", "=5F") + " ",
        lambda text: "a=3D1 " + text[:20] + "=\n" + text[20:],
        lambda text: "".join(f"\\u{{{ord(sign):x}}}" for sign in text),
        lambda text: "".join(f"\\U{ord(sign):08x}" for sign in text),
        lambda text: "".join(f"\\{ord(sign):03o}" for sign in text),
        lambda text: text.replace("g", "\U0001d5c0").replace("h", "\U0001d5c1"),
        lambda text: base64.b64encode(f"$t='{text}'".encode("utf-16-le")).decode(),
        lambda text: base64.b64encode("".join(f"%{ord(sign):02X}" for sign in text).encode()).decode(),
    ],
    ids=[
        "padded hexadecimal entities",
        "padded entities",
        "quoted-printable",
        "one sign quoted-printable",
        "soft line break",
        "braced escapes",
        "long escapes",
        "octal escapes",
        "mathematical letters",
        "UTF-16 in base64",
        "percent in base64",
    ],
)
def test_a_token_in_any_wrapping_is_masked(wrap: Callable[[str], str]) -> None:
    """What a shell, a mailer, a browser or a terminal would undo, the masking undoes."""
    out = masked(wrap(GITHUB))
    assert "[github_pat:" in out
    assert GITHUB[20:] not in out


@pytest.mark.parametrize(
    "text", ['{"args":["curl","-u","bob:F4keP4ssx7"]}', '["mysql", "-h", "db", "-pF4keP4ssx7"]']
)
def test_a_list_of_arguments_is_a_command(text: str) -> None:
    """The quotes and the commas stay."""
    out = masked(text)
    assert "F4keP4ssx7" not in out
    assert out.count('"') == text.count('"')


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[38:5:1m",
        "\x1b[>4;1m",
        "\x1b[!p",
        "\x1b[1 q",
        "\x1b[<u",
        "\x1bXabc\x1b\\",
        "\x1b_abc\x1b\\",
        "\x1b^a\x1b\\",
        "\x1b#8",
        "\x1bn",
        "\x9b1m",
        "\x9dtitle\x9c",
    ],
)
def test_no_escape_sequence_parts_a_secret(sequence: str) -> None:
    """Every form of ECMA-48, in seven bits and in eight."""
    shown = masked(f"see {GITHUB[:12]}{sequence}{GITHUB[12:]} now")
    assert not any(GITHUB[at : at + 12] in shown for at in range(len(GITHUB) - 11))
    assert shown.startswith("see [")
    assert shown.endswith(" now")
