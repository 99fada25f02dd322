"""Secrets beside their name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction.assignment import MAX_WORD_CHARS, assigned, name_around, read_value, untrailed
from support.redactor import masked, redactor

S = "F4keK3yF0rT3st"
MASKED = {
    "environment": f"export API_TOKEN={S} && run",
    "quoted": f'API_TOKEN="{S}"; run',
    "initialised with braces": f'std::string api_key{{"{S}x7"}};',
    "compared": f"if (token !== '{S}Q7') return",
    "tagged": f"api_token: !!str {S}",
    "changed": f"The database password was changed to {S}.",
    "behind the name of a setting": f'config.api_key = "{S}"',
    "typed": f"token: str = '{S}'",
    "hash rocket": f":password => '{S}', x",
    "go": f'apiToken := "{S}"',
    "yaml": f"  api_token: {S}\n",
    "yaml value on the next line": f"- name: DB_PASSWORD\n  value: {S}\n",
    "python dict": f"{{'api_token': '{S}', 'n': 1}}",
    "index": f"os.environ['API_TOKEN'] = '{S}'",
    "php": f"$config['db']['password'] = '{S}'; // prod",
    "define": f"define('DB_PASSWORD', '{S}');",
    "attribute": f'<add key="ApiKey" value="{S}" />',
    "element": f"<password>{S}</password>",
    "query": f"https://h/x?access_token={S}&page=2",
    "bare key in a query": f"https://h/x?key={S}&page=2",
    "header": f"-H 'X-Vault-Token: {S}'",
    "flag": f"tool --token {S} --json",
    "flag with sign": f"tool --token={S}",
    "flag with number": "tool --password 12345678 run",
    "flag with quoted words": "tool --password 'tulip anchor' run",
    "weak flag": f"tool --pass {S} run",
    "powershell": f'$env:API_TOKEN = "{S}"',
    "fish": f"set -gx API_TOKEN {S}; and run",
    "docker file": f"ENV DB_PASSWORD {S}\n",
    "sentence": f"The admin password is {S}, please change it.",
    "two words with their article": f"here is the api key: {S}",
    "yaml, folded": f"token: >-\n  {S}\n",
    "two words": f"my api key is {S} can you test it?",
    "Chinese": f"密码：{S}，请勿外传",
    "Japanese": f"パスワードは {S} です",
    "markdown": f"**Password:** `{S}`",
    "table of words": f"wifi pw {S} :)",
    "pairs": f"{{user=app,password={S},ssl=true}}",
    "triple quotes": f'password = """{S}"""',
    "html": f"&quot;password&quot;:&quot;{S}&quot;",
    "curly quotes": f"password: “{S}”",
    "escaped quote inside": f'password = "{S}\\"{S}"',
    "unclosed": f'password = "{S}\nnext',
    "very long": f"token={S * 200} x",
    "vendor and key, apart": f"Onesignal Admin Key = {S}N0tR3al7",
    "vendor and key, as one": f'const datadogkey = "{S}N0tR3al7"',
    "cell": f"API_TOKEN,{S}N0tR3al7,ops",
    "Erlang": f'{{api_token, <<"{S}N0tR3al7">>}},',
    "arrow": f"api_token -> {S}N0tR3al7",
    "R": f'api_token <- "{S}N0tR3al7"',
    "setter": f'client.setApiToken("{S}N0tR3al7")',
    "default": f'config.get("api_token", default="{S}N0tR3al7")',
    "alternative": f"process.env.API_TOKEN || '{S}N0tR3al7'",
    "property list": f"<key>apiToken</key>\n\t<string>{S}</string>",
    "row": f"| api_token | `{S}N0tR3al7` |",
    "C": f'#define API_TOKEN "{S}N0tR3al7"',
    "Lisp": f'(setq api-token "{S}N0tR3al7")',
    "Portuguese": f"Troquei a API_TOKEN por {S}N0tR3al7 ontem",
    "German": "Das Passwort für den Drucker lautet Anchor68xK (Benutzer: admin)".replace("Anchor68xK", S),
    "Vietnamese": f"Mật khẩu wifi là {S} nhé",
    "Swedish": f"Lösenordet är {S}, användare: kim",
    "Arabic": f"كلمة المرور: {S}",
    "Italian": f"Password del database: {S}, utente: shop",
    "word inside the name": f"SECRET_STRIPE={S}N0tR3al7",
}
KEPT = [
    "the token expired and the key is gone",
    "password=password, token=token",
    "token = await getAccessToken({ audience })",
    "API_KEY=",
    'DB_PASSWORD=""',
    "exec 'API_KEY=' exit=0",
    "--token-file /var/run/token",
    "Use the --password flag only in scripts.",
    "tool --token --json",
    "${PASSWORD:-x}",
    "password: ${PASSWORD}",
    "vault login -method=token x=1",
    "tool --password /etc/pw",
    "tool --token https://h/x",
    "tool --pass word",
    "tool --token getToken()",
    "key: value",
    "The returned token is base64url, 43 bytes of entropy",
    '100K+-token "heavy turn" proxy',
    '"auth_token": "entra-id-bearer-via-http-hook"',
    'password = ask_password("Password: ")',
    "pat_str = str(pat, 'ISO-8859-1')",
    "export declare const MiniJWT: core.$constructor<MiniJWT>;",
    "console.log('API Token:', token);",
    'print("shlex: token=" + repr(raw))',
    "if k.key == Keys.ControlM:",
    "js_constraint_key = 'minItems' if n else 'maxItems'",
    "pass messages[-1].id back",
    "#   token          = 1*tchar",
    '"token": f"Bot {token}"',
    "credential: X509Credential | undefined;",
    'CHALLENGE_PASSWORD: "challengePassword",',
    '"registry-auth-token": "^4.0.0",',
    "- POSTGRES_PASSWORD=postgres",
    'test: --password="$$(cat /run/secrets/db)"',
    "PASSWORD :'pw'",
    "password: !vault |",
    "SignKey = HMAC-SHA1(SecretKey, q)",
    '<entry key="Some-Md5">',
    "The key id is a914b5347923a1b387fe28f747c53b0f",
    'SIGNATURE = b"\\x89PNG\\r\\n"',
    "token is required",
    "set -gx API_TOKEN $X",
    "CACHE_KEY=deps-v3-linux-py311",
    "auth password /x/y",
    "API_KEY=`pass show acme/api`",
    "secret",
    "password >",
]


@pytest.mark.parametrize("text", MASKED.values(), ids=MASKED.keys())
def test_a_value_beside_its_name_is_masked(text: str) -> None:
    """However a language, a shell or a sentence joins name and value."""
    out = masked(text)
    assert out != text
    assert S not in out
    assert "12345678" not in out
    assert "anchor" not in out


@pytest.mark.parametrize("text", KEPT)
def test_a_name_without_a_secret_beside_it_stays(text: str) -> None:
    """References, counts, prose and code stay as they are."""
    assert masked(text) == text


def test_a_name_is_widened_both_ways() -> None:
    """The whole name decides, not the word in it."""
    text = "x spring.datasource.password: y"
    assert text[slice(*name_around(text, 20, 28))] == "spring.datasource.password"


@pytest.mark.parametrize(
    ("written", "left"), [("abc).", "abc"), ("[a:1]", "[a:1]"), ("(x)", "(x)"), ("...", "")]
)
def test_punctuation_of_the_sentence_is_no_part_of_a_value(written: str, left: str) -> None:
    """A bracket that the value opened stays."""
    assert untrailed(written) == left


def test_a_word_beyond_the_bound_is_read_to_its_end() -> None:
    """No rest of a long value is left behind."""
    text = "a" * (MAX_WORD_CHARS + 50) + " b"
    value = read_value(text, 0)
    assert value is not None
    assert value.end == MAX_WORD_CHARS + 50
    exact = read_value("a" * MAX_WORD_CHARS + " b", 0)
    assert exact is not None
    assert exact.end == MAX_WORD_CHARS


@given(st.text(alphabet="token=:'\" \\\n`$a1{}()-<>;.,", max_size=60))
@settings(max_examples=200)
def test_any_text_around_a_name_is_read(text: str) -> None:
    """Hits lie inside the text, whatever it is."""
    whole = "password" + text
    for hit in assigned(whole, 0, 8, redactor().finder.names):
        assert 8 <= hit.start < hit.end <= len(whole)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"http --auth bob:{S} h", "http --auth bob:"),
        (f"https://x-access-token:{S}@h.example/r", "@h.example/r"),
        (f"GET https://h/x?token={S}#top", "#top"),
        (f"-Password (ConvertTo-SecureString '{S}' -AsPlainText)", "(ConvertTo-SecureString '"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, kept: str) -> None:
    """The user, the host, the fragment, the command."""
    out = masked(text)
    assert S not in out
    assert kept in out


def test_an_unknown_user_that_looks_drawn_is_masked_too() -> None:
    """It may be the secret of the two."""
    assert S not in masked(f"http --auth {S}N0tR3al7:x_y-z_1 h")


@pytest.mark.parametrize(
    "text",
    [
        'Token: "#AB0909"',
        'if kind in ["token", "code id_token"]:',
        "set-encrypt-key.asm s390x/fat/aes256-decrypt-2.asm",
    ],
)
def test_colours_kinds_of_tokens_and_files_are_none(text: str) -> None:
    """They stand beside the names of secrets in programs."""
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"APP_KEY=base64:{S}", "APP_KEY=base64:["),
        (f"userPassword: {{SSHA}}{S}", "userPassword: {SSHA}["),
        (f"openssl enc -d -pass pass:{S} -in a", "-pass pass:["),
        (f"sed -i 's/password=.*/password={S}/' f", "s/password=.*/password=["),
        (f"curl_setopt($c, CURLOPT_USERPWD, 'bob:{S}');", "'bob:["),
    ],
)
def test_how_a_value_is_written_and_the_user_stay(text: str, kept: str) -> None:
    """Only the secret is masked."""
    out = masked(text)
    assert S not in out
    assert kept in out
    assert masked(out) == out


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD=arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3",
        "redis key session:4ca0e5f7-b2d1-4c09-a3e8-5d6f1b7092ce expired",
        "cache hit key=user:1234:4ca0e5f7b2d14c09a3e85d6f1b7092ce",
    ],
)
def test_names_of_stores_and_caches_stay(text: str) -> None:
    """The type in the name of a resource, and keys with a name of their own."""
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Username: bob\nPassword: fakehorse",
        "user=bob pwd=fakehorse",
        "spring:\n  username: app\n  password: fakehorse",
        "stringData:\n  password: fakehorse\n  username: bob",
        "ansible_become_pass: fakehorse",
        "wget --proxy-password=fakehorse https://h.example",
        "TF_VAR_db_password=fakehorse terraform plan",
        "JWT_SECRET=fakehorseriding npm start",
        "passwrd: Fake!horse7",
        "key        value\npassword    amber-fake-horse_42",
    ],
)
def test_letters_are_a_password_where_an_account_or_a_setting_says_so(text: str) -> None:
    """Behind a user or in front of one, in a flag, in a variable, in a table."""
    assert "horse" not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "user = User(username=username, password=hashed)",
        "login(user=name, password=secretive)",
        "username: string\npassword: string",
        "user: bob\npassword: fetch()",
        "IMAGE_PULL_SECRET=registrycreds",
        "password: Kennwort",
        "username: bob\npassword: changed",
        "user=bob password=incorrect",
        "if password == expected: # user: bob",
        'labels = ("user_name", "password", "fakehorse")',
    ],
)
def test_letters_beside_a_name_are_mostly_words(text: str) -> None:
    """Arguments of a call, types, labels of other languages."""
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "EVP_PKEY *d2i_ECPrivateKey_bio(BIO *bp, EC_KEY **eckey2);",
        "EXPORT EVP_PKEY*          xmlSecOpenSSLKeyDataRsa2Evp   (data);",
        "((CMS_RecipientEncryptedKey *)OPENSSL_sk2_shift(x))",
        "#define PKCS12_key_gen PKCS12_key_gen_utf8",
        " *   PK11_TypeSymKey             PK11SymKey *",
        "private_key: ed25519.Ed25519PrivateKey, x",
        "FSDiscriminatorPass P = FSDiscriminatorPass::Pass1);",
        'Term::ReadKey::ReadMode2("restore");',
        "# what you pass to modnames2paths: a list",
        "pass on to modnames2paths: a list",
        "interface identified by %NL80211_ATTR_IFINDEX and",
        "password\n  : str\n    The password to use",
        "token\n=====\nA heading",
    ],
)
def test_types_and_names_of_code_are_no_values(text: str) -> None:
    """Pointers of C, scopes of C++ and Perl, constants that are another one, words about code."""
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"DB_PASSWORD\n= {S}",
        f"password\n:\n{S}",
        f"PASSWORD\r\n=\r\n{S}",
        f"**Password** {S}",
        f"changed the pass of bob to {S}",
        "here's the API key\n\nF4keK3yN0tR3al7bQ2vW9sXe\n\nthanks",
        "initialAdminPassword\nF4keK3yN0tR3al7bQ2vW9sXe",
    ],
)
def test_a_value_may_stand_below_its_name(text: str) -> None:
    """With the sign on a line of its own; and a word before `pass` makes it a noun."""
    assert S not in masked(text)
    assert "F4keK3yN0tR3" not in masked(text)


def test_the_first_of_two_literals_belongs_to_the_first_name() -> None:
    """The user stays, and the password goes."""
    assert masked(f'user, password = "bob", "{S}"').startswith('user, password = "bob", "[')
