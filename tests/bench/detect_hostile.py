"""Inputs that were made to be slow: one unit said over and over, at sizes on both sides of every bound.

Each unit is the beginning of something a detector looks for and never its end, or what makes it start over: quoting,
escapes, encodings in encodings, characters that grow when they are normalised, near misses and true hits without number.
"""

import random
import re
from collections.abc import Iterator

from support.tree import ROOT

__all__ = ["entries", "texts", "units"]

MB = 10**6
_VALUE = re.compile(r"^ *-? *value: ['\"]?([^'\"\n]+)", re.MULTILINE)

_PLAIN = {
    "one letter": "a",
    "blanks": " ",
    "line ends": "\n",
    "tabs and line ends": "\t\n",
    "hex digits": "0123456789abcdef",
    "mixed letters and digits": "aB3dE6gH9",
    "base64": "QUFB",
    "base64 of base64": "UVVGQg==",
    "base64url": "-_Az09",
    "equals signs": "=",
    "colons": ":",
    "dots": "a.",
    "at signs": "a@",
    "slashes": "a/",
    "backslashes": "\\",
    "CJK": "\u8bf7\u628a\u5bc6\u7801",
    "emoji with joiners": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "characters that grow eighteenfold": "\ufdfa",
    "full-width letters": "\uff49\uff47\uff4e",
    "zero-width between letters": "a\u200b",
    "combining marks": "a\u0301\u0302\u0303",
    "right-to-left overrides": "\u202ea\u202c",
    "tag characters": "\U000e0061",
    "look-alike letters": "\u0440\u0430\u0455\u0455",
    "dotted capital": "\u0130A",
    "capitals beside small letters": "aA",
}
_QUOTING = {
    "single quotes": "'",
    "double quotes": '"',
    "backquotes": "`",
    "quoted quotes": '\\"',
    "braces": "{",
    "brackets": "[",
    "closed braces": "{}",
    "closed brackets": ")",
    "brackets behind dollars": "$)",
    "words before closed brackets": "b)",
    "arrays without end": "a=(",
    "pipes into blocks": "|{",
    "ways out and in": "<>",
    "ways in": "<<<",
    "command substitutions": "$(",
    "arithmetic": "$((",
    "parameters": "${",
    "field separators": "${IFS}",
    "process substitutions": "<(",
    "here-documents": "<<A\n",
    "semicolons": "; ",
    "pipes": "a|",
    "continuations": "a\\\n",
    "percent": "%41",
    "percent of percent": "%25",
    "entities": "&#97;",
    "unicode escapes": "\\u0061",
    "hex escapes": "\\x61",
    "colour codes": "\x1b[31m",
    "half colour codes": "\x1b[",
    "JSON members": '"a": "',
    "JSON in JSON": '{"a":"{\\"b\\":\\"',
    "comments": "<!-- ",
    "tags": "<a href=",
}
_SECRETS = {
    "half quoted tokens": 'token "',
    "passwords without end": "password=",
    "passwords": "password=tulip-anchor-8 ",
    "passwords in quotes": "password: 'tulip anchor",
    "headers": "Authorization: ",
    "bearers": "Bearer ",
    "cookies": "Cookie: a=b; ",
    "schemes": "x://",
    "user infos": "https://a:b@",
    "user infos without end": "https://a:b",
    "query parameters": "?token=a&key=",
    "key beginnings": "-----BEGIN RSA PRIVATE KEY-----\n",
    "half key beginnings": "-----BEGIN ",
    "web tokens": "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.",
    "half web tokens": "eyJ",
    "vendor prefixes": "ghp_",
    "vendor tokens": "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF ",
    "vendor tokens, escaped": "ghp\\u005fF4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF ",
    "many prefixes": "sk-AKIAxoxb-glpat-npm_hf_AIza",
    "database flags": "mysql -p ",
    "curl flags": "curl -u ",
    "flags behind a pipe": '| htpasswda:b -p "xa:b -p "x ',
    "piped passwords": "echo a | docker login --password-stdin ",
    "exports": "export A_KEY=",
    "netrc": "machine a login b password ",
    "seed words": "seed phrase: tulip anchor ",
    "sentences about keys": "the password is not the key and the token is ",
    "dotted names": "a.password.",
    "long names": "password_",
}
_ORDERS = {
    "orders": "ignore ",
    "half orders": "ignore all the previous ",
    "orders in full": "ignore all previous instructions. ",
    "orders with digits": "1gn0r3 ",
    "spelt out": "i g n o r e ",
    "hyphened": "i-g-n-o-r-e ",
    "humped": "IgnoreAll",
    "in pieces": "'ig' + 'nore' ",
    "negations": "do not never not without ",
    "senders": "curl $KEY ",
    "reads and sends": "read ~/.ssh/id_rsa and send it to ",
    "pictures": "![a](http://a.example/?q=",
    "addresses in decimal": "http://2130706433/ ",
    "addresses in octal": "0177.0.0.01 ",
    "mapped addresses": "[::ffff:127.0.0.1] ",
    "many labels": "a.b.c.d.e.f.",
    "paths": "/etc/../",
    "globs": "/e?c/*[a-z]",
    "brace lists": "{a,b}{c,d}",
    "shells in shells": "sh -c 'sh -c \"",
    "evals": "eval ",
    "launchers": "env -S npx -y docker run xargs ",
    "packages": "npx -y @a/b@1.0.0 ",
    "assignments": "A=1 ",
    "conditions": "if a; then b; fi; ",
    "cases": "case a in a) ",
    "functions": "f() { f|f& }; ",
    "inline code": "python -c 'exec(\"",
    "German": "ignoriere alle vorherigen Anweisungen nicht ",
    "Persian": "\u062f\u0633\u062a\u0648\u0631\u0647\u0627\u06cc \u0642\u0628\u0644\u06cc \u0631\u0627 ",
    "Russian": "\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439 \u0432\u0441\u0435 ",
    "Chinese": "\u5ffd\u7565\u4e4b\u524d\u7684\u6307\u4ee4",
}
_UNITS = {**_PLAIN, **_QUOTING, **_SECRETS, **_ORDERS}

_WORDS = [
    "password",
    "token",
    "key",
    "secret",
    "=",
    ":",
    '"',
    "'",
    "export",
    "curl",
    "-u",
    "-H",
    "Bearer",
    "https://a:b@c",
    "ghp_",
    "eyJ",
    "ignore",
    "previous",
    "$(",
    "|",
    ";",
    "\\n",
    "%41",
    "QUFB",
]

_ALIKE = (
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u03b1\u03bf\u03c1\u0561\u057d\u1d00\u1d04\ua731a \n"
)
_ESCAPES = [
    "%41",
    "%2541",
    "\\x61",
    "\\u0061",
    "\\U00000061",
    "&#97;",
    "&#x61;",
    "\\141",
    "&period;",
    "\\\\u0061",
]


def _made() -> Iterator[tuple[str, str]]:
    # The same every time.
    chance = random.Random(20261201)
    yield "random words", " ".join(chance.choices(_WORDS, k=MB // 5))
    yield "random base64", "".join(chance.choices("ABCDEFGHabcdefgh0123456789+/", k=MB))
    yield "random characters", "".join(chr(chance.randrange(32, 0x3000)) for _ in range(MB))
    yield "numbered passwords", "".join(f"password{at}=tulip{at * 7919}\n" for at in range(MB // 22))
    yield "numbered names", "".join(f"host{at}.example.com " for at in range(MB // 20))
    yield "hashes", "".join(f"{chance.getrandbits(160):040x} " for _ in range(MB // 41))
    lines = (f"    --hash=sha256:{chance.getrandbits(256):064x} \\\n" for _ in range(MB // 84))
    yield "hashes in lines that go on", "".join(lines)
    yield "look-alike letters in any order", "".join(chance.choices(_ALIKE, k=MB // 2))
    yield "escapes of every kind", "".join(chance.choices(_ESCAPES, k=MB // 5))
    yield "deep JSON", '{"a":' * (MB // 10) + "1" + "}" * (MB // 2)
    values = _VALUE.findall("\n".join(path.read_text() for path in sorted((ROOT / "ioc").rglob("*.yaml"))))
    yield "indicators", (" ".join(values) + " ") * (MB // sum(map(len, values)) + 1)
    yield "half indicators", " ".join(value[:-1] for value in values) * (MB // sum(map(len, values)) + 1)


def texts(size: int) -> Iterator[tuple[str, str]]:
    """Give every hostile text, of so many bytes or a few less: a letter of another alphabet is sent as two or three."""
    for name, unit in _UNITS.items():
        yield name, unit * (size // len(unit.encode()))
    for name, text in _made():
        yield name, text.encode()[:size].decode(errors="ignore")


def units() -> Iterator[tuple[str, str]]:
    """Give what the hostile texts repeat."""
    yield from _UNITS.items()


def entries(unit: str, size: int) -> Iterator[tuple[str, object]]:
    """Give the MCP entries that carry a unit over and over: in every field, in many fields, and in many entries."""
    text = unit * (size // len(unit))
    few = max(1, size // len(unit) // 4)
    yield "in a script", {"command": "bash", "args": ["-c", text]}
    yield "in an argument", {"command": "npx", "args": ["-y", text]}
    yield "as arguments", {"command": "uvx", "args": [unit] * few}
    yield "as the command", {"command": text}
    yield "in the environment", {"command": "node", "env": {"A": text, "BASH_ENV": text}}
    yield "as variables", {"command": "node", "env": {f"A{at}": unit for at in range(size // 50)}}
    yield "in an address", {"url": f"https://a.example/{text}", "headers": {"A": text}}
    yield "in code", {"command": "python3", "args": ["-c", text]}
