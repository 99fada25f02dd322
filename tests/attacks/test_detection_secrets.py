"""Secrets that try to survive the redactor, by the kind of trick, and innocent text that looks like one.

Every value is made up. A secret is gone when no run of twelve of its characters is left.
"""

import base64
import codecs
import gzip
import json
import random
import urllib.parse
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from herma.policy.redaction.stream import StreamRedactor
from support.redactor import GITHUB, masked, redactor

VALUE = "Zk7pQ2vW9sXe"
HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
LONGEST_RUN_LEFT = 11
# Two letters of `ghp_` may be the end of any word.
PREFIX_CHARS = 2


def _left(secret: str, text: str) -> bool:
    size = LONGEST_RUN_LEFT + 1
    return any(secret[at : at + size] in text for at in range(max(1, len(secret) - size + 1)))


def _base64(text: str, encoding: str = "utf-8") -> str:
    return base64.b64encode(text.encode(encoding)).decode()


def _each(form: str, text: str) -> str:
    return "".join(form.format(ord(sign)) for sign in text)


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "base64": _base64,
    "base64 of base64": lambda secret: _base64(_base64(secret)),
    "UTF-16 in base64": lambda secret: _base64(secret, "utf-16-le"),
    "base64 of a line": lambda secret: _base64(f"\nkey: {secret}\n"),
    "an emoji before it in base64": lambda secret: _base64(f"😀{secret}"),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(f"key: {secret}".encode()).decode(),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "gzip in base64": lambda secret: base64.b64encode(gzip.compress(secret.encode(), mtime=0)).decode(),
    "a list of bytes": lambda secret: f"[{', '.join(map(str, secret.encode()))}]",
    "a list of bytes in C": lambda secret: f"{{{','.join(map(hex, secret.encode()))}}}",
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal in capitals": lambda secret: secret.encode().hex().upper(),
    "bytes of a script": lambda secret: _each("\\x{:02x}", secret),
    "octal escapes": lambda secret: _each("\\{:03o}", secret),
    "escapes of JSON": lambda secret: _each("\\u{:04x}", secret),
    "escapes of escapes": lambda secret: _each("\\\\u{:04x}", secret),
    "escapes in braces": lambda secret: _each("\\u{{{:x}}}", secret),
    "long escapes": lambda secret: _each("\\U{:08x}", secret),
    "percent": lambda secret: _each("%{:02X}", secret),
    "percent of percent": lambda secret: urllib.parse.quote(_each("%{:02X}", secret)),
    "entities": lambda secret: _each("&#{};", secret),
    "entities with zeros": lambda secret: _each("&#00000{};", secret),
    "entities of entities": lambda secret: _each("&amp;#{};", secret),
    "quoted-printable": lambda secret: _each("={:02X}", secret),
    "a colour": lambda secret: f"{secret[:10]}\x1b[31m{secret[10:]}",
    "a link of a terminal": lambda secret: f"{secret[:10]}\x1b]8;;http://x\x07{secret[10:]}",
    "zero-width": "\u200b".join,
    "a soft hyphen": lambda secret: f"{secret[:10]}\u00ad{secret[10:]}",
    "a joiner": lambda secret: f"{secret[:10]}\u034f{secret[10:]}",
    "a selector": lambda secret: f"{secret[:10]}\ufe0f{secret[10:]}",
    "a tag": lambda secret: f"{secret[:10]}\U000e0020{secret[10:]}",
    "an override": lambda secret: f"{secret[:10]}\u202e{secret[10:]}",
    "full width": lambda secret: "".join(chr(ord(sign) + 0xFEE0) for sign in secret),
    "two quotes": lambda secret: f"'{secret[:12]}''{secret[12:]}'",
    "quotes that are joined": lambda secret: f'"{secret[:12]}" + "{secret[12:]}"',
    "empty quotes": lambda secret: f"{secret[:12]}''{secret[12:]}",
    "a continued line": lambda secret: f"{secret[:12]}\\\n{secret[12:]}",
    "JSON in JSON in JSON": lambda secret: json.dumps(json.dumps(json.dumps({"a": secret}))),
    "one letter of JSON": lambda secret: json.dumps({"a": secret}).replace("g", "\\u0067"),
    "an address": lambda secret: f"https://h.example/{secret}/x",
    "a file": lambda secret: f"/tmp/{secret}.txt",
    "a word before it": lambda secret: f"x_{secret}",
}


@pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_a_wrapping_does_not_carry_a_secret_out(wrap: Callable[[str], str]) -> None:
    """The wrapped form is masked as well: whoever reads it can unwrap it."""
    wrapped = wrap(GITHUB)
    text = masked(f"see {wrapped} end")
    assert not _left(GITHUB, text)
    if not _left(GITHUB, wrapped):
        assert not _left(wrapped, text)
    assert text.startswith("see ")


COMMANDS = (
    "curl -u deploy:{} https://h.example",
    "curl -udeploy:{} https://h.example",
    "curl -H 'X-Vault-Token: {}' https://h.example",
    'curl -H "Authorization:Bearer {}" https://h.example',
    "curl -d 'user=bob&password={}' https://h.example",
    "curl -b 'session={}' https://h.example",
    "curl -x http://u:{}@proxy:3128 https://h.example",
    "curl --oauth2-bearer {} https://h.example",
    "wget --http-password={} --http-user=u https://h.example",
    "mysql -uroot -p{} db",
    "mysqldump -p'{}' db",
    'psql "host=h user=u password={}"',
    'echo "h:5432:db:u:{}" > ~/.pgpass',
    "redis-cli -u redis://:{}@h",
    "sshpass -p{} ssh u@h",
    "docker login -u u -p {} reg.example",
    "echo {} | docker login -u u --password-stdin",
    "docker login --password-stdin <<< {}",
    "helm install x --set auth.rootPassword={},auth.user=u",
    "kubectl --token {} get pods",
    "vault login {}",
    "vault kv put secret/app pw={}",
    "echo {} | sudo -S apt update",
    "sudo -S <<< {} apt update",
    "echo 'root:{}' | chpasswd",
    "net user bob {} /add",
    "smbclient //srv/share -U bob%{}",
    "xfreerdp /u:bob /p:{} /v:h",
    "ldapsearch -x -D cn=admin -w {} -b dc=x",
    "gpg --batch --passphrase {} -c a",
    "7z a -p{} x.7z a",
    "zip -P {} x.zip a",
    "git clone https://u:{}@h.example/r.git",
    "npm config set //registry.example/:_authToken {}",
    "ansible-playbook -e ansible_become_pass={} p.yml",
    "nmcli dev wifi connect SSID password {}",
    "lftp -u u,{} sftp://h",
    "sqlplus sys/{}@h as sysdba",
    "java -Djavax.net.ssl.keyStorePassword={} -jar a.jar",
    'ConvertTo-SecureString "{}" -AsPlainText -Force',
    "ssh u@h 'echo {} | sudo -S reboot'",
    "ENV DB_PASS {}",
    "echo {} | keepassxc-cli ls db.kdbx",
    "rabbitmqctl -n rabbit@h add_user bob {}",
    "nomad var put -namespace=prod nomad/jobs/x pin={}",
    "redis-cli ACL SETUSER bob on '>{}' ~* +@all",
    "sqlite3 a.db \"PRAGMA key='{}'\"",
    "uci set network.wan.key='{}'",
    "reg add HKCU\\S /v ApiToken /d {} /f",
    "xdotool type '{}'",
    "lftp -u bob,'{}' ftp.h",
    "curl -H 'Authorization: Token token=\"{}\"' https://h.example",
)


@pytest.mark.parametrize("command", COMMANDS, ids=COMMANDS)
def test_a_credential_of_a_command_is_masked_and_the_command_stays(command: str) -> None:
    """Whoever approves it still sees what it does."""
    text = masked(command.format(VALUE))
    assert VALUE not in text
    assert text.split("[", 1)[0] == command.split("{}", 1)[0]


PLACES = (
    "the password is {}.",
    "user bob pass {}",
    "Das Passwort lautet {}",
    "le mot de passe est « {} »",
    "пароль: {}",
    "密码是{}",
    "パスワード：{}",
    "비밀번호: {}",
    "كلمة المرور: {}",
    "पासवर्ड: {}",
    "mật khẩu: {}",
    "<password>{}</password>",
    '<property name="password" value="{}"/>',
    "<property><name>db.password</name><value>{}</value></property>",
    "<key>password</key><string>{}</string>",
    "machine h\n  login bob\n  password {}",
    "Server=h;Uid=u;Pwd={};",
    "jdbc:oracle:thin:u/{}@h:1521:x",
    "Set-Cookie: session={}; Path=/",
    "PASS {}",
    "CREATE USER bob IDENTIFIED BY '{}';",
    "SET PASSWORD FOR 'bob' = PASSWORD('{}');",
    'password = os.getenv("DB_PASS", "{}")',
    "password = process.env.DB_PASS || '{}'",
    'os.environ["TOKEN"] = "{}"',
    "auth=('bob', '{}')",
    "- name: PASSWORD\n  value: {}",
    "User(name='bob', password='{}')",
    "map[password:{} user:bob]",
    "Array ( [password] => {} )",
    'level=info msg="set password to {}"',
    "Invalid password '{}' for user bob",
    "PATH=/bin\0DB_PASSWORD={}\0HOME=/root\0",
    "password＝{}",
    'const password =\n  "{}";',
    "DECLARE @pw varchar(50) = '{}'",
    "password: ${{DB_PASSWORD:{}}}",
    '{{{{ password | default("{}") }}}}',
    'user, password = "bob", "{}"',
    "pass\u200bword={}",
    "pass''word={}",
)


@pytest.mark.parametrize("place", PLACES, ids=ascii)
def test_a_password_beside_its_name_is_masked(place: str) -> None:
    """Sentences, markup, code, logs, in many languages and spellings of the name."""
    assert VALUE not in masked(place.format(VALUE))


DOCUMENTS = {
    "a list": '{"password":["%s"]}',
    "name and value": '{"name":"DB_PASSWORD","value":"%s"}',
    "arguments": '{"argv":["run","--token","%s"]}',
    "a command": '{"cmd":["sh","-c","mysql -p%s"]}',
    "a pair of headers": '{"headers":[["Authorization","Bearer %s"]]}',
    "a variable": '{"env":["TOKEN=%s"]}',
    "an escaped name": '{"pass\\u0077ord":"%s"}',
    "a list by user": '{"passwords":{"bob":"%s"}}',
    "an object": '{"password":{"value":"%s"}}',
    "a field of a form": '{"type":"password","value":"%s"}',
    "a label": '{"label":"Password","value":"%s"}',
    "the old one": '{"old_password":"%s"}',
    "another language": '{"パスワード":"%s"}',
    "a name with a sign": '{"$password":"%s"}',
    "a name with a gap": '{"pass word":"%s"}',
    "a trailing comma": '{"password":"%s",}',
    "single quotes": "{'password':'%s'}",
    "no end": '{"a":1,"password":"%s',
    "no number": '{"n":NaN,"password":"%s"}',
    "twice": '{"password":"x","password":"%s"}',
    "two documents": '{"a":1}{"password":"%s"}',
    "a mark before it": '\ufeff{"password":"%s"}',
    "half a pair": '{"a":"\\ud800","password":"%s"}',
    "300 lists": "[" * 300 + '{"password":"%s"}' + "]" * 300,
    "3,000 lists": "[" * 3000 + '{"password":"%s"}' + "]" * 3000,
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_document_is_masked_whether_or_not_it_is_json(document: str) -> None:
    """What no reader could parse is text, and text is judged."""
    raw, findings = redactor().json((document % VALUE).encode())
    assert VALUE.encode() not in raw
    assert findings


@pytest.mark.parametrize("layers", [1, 3, 5, 7, 9])
def test_json_in_json_is_opened_as_deep_as_it_goes(layers: int) -> None:
    """Beyond the bound it is judged as the text it is."""
    value: dict[str, str] = {"password": VALUE}
    for _ in range(layers):
        value = {"a": json.dumps(value)}
    raw, _ = redactor().json(json.dumps(value).encode())
    assert VALUE.encode() not in raw


def test_bytes_that_are_no_utf8_do_not_hide_what_stands_beside_them() -> None:
    """They stay as they are; the password goes."""
    raw, _ = redactor().json(b'{"x":"\xff\xfe","password":"' + VALUE.encode() + b'"}')
    assert VALUE.encode() not in raw
    assert b"\xff\xfe" in raw


FILLERS = (
    "password token secret key ",
    "password=x\n",
    "\\u0041 ",
    "%41 ",
    "&#65; ",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo= ",
    "a\u200bb ",
    "\x1b[31mx\x1b[0m ",
    "curl -u ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "-----BEGIN ",
    "ghp_ ",
    "\"'\"'",
    "http://u:",
    "\ndata: x",
    "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 ",
    "[password:7f3a91c2] ",
    "${IFS}",
)


@pytest.mark.parametrize("filler", FILLERS, ids=ascii)
def test_no_filler_spends_the_work_before_the_secret_is_reached(filler: str) -> None:
    """When the work is spent, what is left is masked and not passed."""
    before = filler * (60_000 // len(filler))
    for secret, shown in (
        (GITHUB, f" {GITHUB} "),
        (VALUE, f"\nDB_PASSWORD={VALUE}\n"),
        (VALUE, f" https://u:{VALUE}@h.example/ "),
    ):
        assert not _left(secret, masked(f"{before}{shown}{filler * 10}"))


def _streamed(pieces: Sequence[str]) -> str:
    channel = StreamRedactor(redactor())
    return "".join(channel.feed(piece, 0.0) for piece in pieces) + channel.finish()


STREAMED = {
    "a token": f"see {GITHUB} end",
    "a variable": f"export TOKEN={VALUE}; run",
    "user info": f"https://u:{VALUE}@h.example/x",
    "a header": f"Authorization: Bearer {HEX}\nx",
    "a pipe": f"echo {VALUE} | docker login -u u --password-stdin\n",
    "a sentence": f"the password is {VALUE}.",
    "Chinese": f"密码是{VALUE}。",
    "a table": f"| user | password |\n|---|---|\n| bob | {VALUE} |\n",
    "colours": f"see {GITHUB[:12]}\x1b[31m{GITHUB[12:]} end",
    "escapes": "see " + _each("\\u{:04x}", GITHUB) + " end",
    "percent": "see " + _each("%{:02x}", GITHUB) + " end",
    "base64": f"see {_base64(GITHUB)} end",
    "two quotes": f"see '{GITHUB[:12]}''{GITHUB[12:]}' end",
    "a continued line": f"see {GITHUB[:12]}\\\n{GITHUB[12:]} end",
    "full width": "see " + "".join(chr(ord(sign) + 0xFEE0) for sign in GITHUB) + " end",
    "entities": "see " + _each("&#{};", GITHUB) + " end",
    "quoted-printable": "see " + _each("={:02X}", GITHUB) + " end",
}


@pytest.mark.parametrize("text", STREAMED.values(), ids=STREAMED.keys())
def test_a_stream_loses_what_the_text_would_lose(text: str) -> None:
    """Cut in two anywhere, in single characters, or at random: the same, but for two letters of a public prefix."""
    whole = masked(text)
    draw = random.Random(68)
    splits = [[text[:at], text[at:]] for at in range(1, len(text))]
    splits.append(list(text))
    for _ in range(10):
        cuts = [0, *sorted(draw.sample(range(1, len(text)), 4)), len(text)]
        splits.append([text[first:last] for first, last in pairwise(cuts)])
    kept, ended = whole.split("[", 1)
    for pieces in splits:
        streamed = _streamed(pieces)
        assert streamed.startswith(kept)
        assert streamed.endswith(f"[{ended}")
        assert len(streamed) <= len(whole) + PREFIX_CHARS


INNOCENT = (
    "git checkout 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "550e8400-e29b-41d4-a716-446655440000",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJzXtFxyyzZzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz bob@laptop",
    "key fingerprint is SHA256:uNiVztksCsDhcc0u9e8BrsHRlU2qNAVBJ6vKkHhqYxU",
    "token = os.environ['TOKEN']",
    'echo "$PASSWORD" | sudo -S apt update',
    "API_KEY=$(pass show api)",
    "mkdir -p /srv/app/data && ssh -p 2222 u@h && docker run -p 8080:80 nginx",
    "The password must have at least 12 characters and one digit.",
    "Das Passwort muss geändert werden.",
    "密码必须至少8位",
    "def login(username: str, password: str) -> Token:",
    '"password": {"type": "string", "minLength": 8}',
    "UPDATE users SET password = ? WHERE id = ?",
    "SyntaxError: unexpected token '}' at 12:5",
    "cache key: user:42:profile",
    "arn:aws:iam::123456789012:role/my-role",
    "--password string   password for login",
    "tokens used: 12345 of 200000",
    "PermitRootLogin prohibit-password",
    "wifi password is on the fridge",
    "    Signature Algorithm: sha256WithRSAEncryption",
    "key = pbkdf2(hash_name='sha1', password=b'password', salt=b'salt')",
    "resp = self.sendcmd('PASS ' + passwd)",
    'user_pass = "%s:%s" % (user, password)',
    'print("project secret: " + labels["project_key"])',
    "f/token.py,sha256=F4keFRfFeLJoj90UYVyjeKIzGfY05JhUFy7IfZ59pw,13424",
    "docker build -t registry.h/team/api:2026.11.02-4f2a9c1 .",
    "echo 4f2a9c1e7b3d5f6a > .revision",
    "password: see 1Password",
)


@pytest.mark.parametrize("text", INNOCENT, ids=ascii)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """A text that is changed for nothing is one that people stop to trust."""
    assert masked(text) == text


def test_a_fingerprint_tells_nothing_about_a_rotation_of_letters() -> None:
    """Only what is the same has the same placeholder."""
    first, second = (masked(f"password={value}") for value in (VALUE, codecs.encode(VALUE, "rot13")))
    assert first != second


TOLD = {
    "German": "das WLAN-Kennwort lautet {}",
    "Spanish": "la contraseña nueva del servidor es {}",
    "French": "mot de passe wifi : {}",
    "Portuguese": "a senha do banco é {}",
    "Finnish": "salasana on {}",
    "Czech": "heslo k serveru je {}",
    "Russian": "пароль от сервера - {}",
    "Greek": "ο κωδικός είναι {}",
    "Hebrew": "הסיסמה היא {}",
    "Hindi": "मेरा पासवर्ड {} है",
    "Thai": "รหัสผ่านคือ {}",
    "Chinese": "服务器密码是「{}」",
    "Japanese": "パスワードは{}です",
    "name and password": "creds for db → app / {}",
    "a name and a pipe of the shell": "echo {} | p4 login",
    "a here-string": "ssh-copy-id h <<< {}",
    "the output of a command": "cryptsetup open d x --key-file <(echo -n {})",
    "two passwords": "I rotated the key from {}Q2 to {}Z7",
    "a dialogue": "Password for 'https://bob@git.example.com': {}",
    "a table that is drawn": "│ api_token │ {}N0tR │",
    "a folded text": "token: >-\n  {}",
    "a default of the shell": "${{DB_PASSWORD:-{}}}",
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD.keys())
def test_a_secret_told_in_words_is_gone(told: str) -> None:
    """In the languages people write to their agents, and in the places tools take it from."""
    assert not _left(VALUE, masked(told.format(*[VALUE] * 2)))


@pytest.mark.parametrize("sign", ["&b=2", ";c", "|d", "?a=1&b=2;c|d"])
@pytest.mark.parametrize(
    "command",
    [
        'curl "https://x.example/{}" -u bob:{}',
        "curl -s 'https://x.example/{}' --proxy-user bob:{} -o f",
        'curl "https://x.example/{}" --user "bob:{}"',
        "mysql -e 'a{}' -u bob -p{}",
    ],
)
def test_a_sign_of_the_shell_inside_a_word_ends_no_command(command: str, sign: str) -> None:
    """`&` stands in most addresses with a query; what follows is still the same command's."""
    assert VALUE not in masked(command.format(sign, VALUE))


@pytest.mark.parametrize(
    "line",
    [
        "mysql -u bob db; mkdir -p foo/bar9x",
        "mysql x | tee -p out9Xy",
        "curl -s https://a && docker run -u bob:staff9x img",
    ],
)
def test_the_next_command_is_another_one(line: str) -> None:
    """A sign of the shell with a blank behind it ends a command: its options are not the first one's."""
    assert masked(line) == line
