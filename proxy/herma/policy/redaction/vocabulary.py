"""Words that are no secrets: what stands in schemas, forms and sentences where a value would."""

from typing import Final

__all__ = ["DULL", "PROSE", "TRAILING"]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Types, states, schemes, names of fields, examples and articles, in schemas, forms, type annotations and logs.
DULL: Final = _words(
    "string str bytes int integer number bool boolean object array any unknown void never char text",
    "varchar optional required null none nil nan undefined true false yes no on off ok empty unset",
    "missing invalid valid expired hidden masked redacted default auto disabled enabled always prompt ask",
    "stdin env file keychain keyring vault basic bearer digest negotiate ntlm oauth oauth2 oidc saml ldap",
    "jwt hmac rsa x509 mtls tls ssl rbac apikey header cookie query plain md5 sha1 sha256 sha512",
    "scram-sha-256 scram-sha-1 cram-md5 digest-md5 xoauth2 gssapi bcrypt argon2 login session local client_secret_basic client_secret_post",
    "private_key_jwt client_credentials authorization_code refresh_token password token secret key",
    "username user pass passwd pwd credentials credential passphrase passwort kennwort mot contraseña",
    "senha wachtwoord lösenord hasło пароль api-key api_key apitoken accesstoken credentialtype",
    "userpassword new-password current-password one-time-code foo bar baz foobar test testing tests",
    "example sample dummy demo changeme change-me change_me secret123 s3cr3t strong weak medium error changed",
    "unchanged correct incorrect wrong encrypted decrypted skipped ignored generated rotated revoked locked unlocked",
    "updated accepted rejected denied granted verified stored saved removed deleted protected workspace",
    "warning failed success self this the a an is was are not value values name id type here",
    "self.password self.token const let var final static public private protected fn def func function in",
    "at of and or for from to with by via as be has have must should can may will when where if then else",
    "it its your our my",
    "tokens keys secrets passwords base64 base64url base32 base58 hex utf-8 utf8 utf-16 utf-16-le ascii latin-1 iso-8859-1 cp1252",
    "sha-1 sha-256 sha-512 x.509",
)
# Words that make a sentence of the words around them.
PROSE: Final = _words(
    "the a an is are was must should can may your you our my his her their its this that these those not",
    "no only please enter type choose forgot forgotten reset change new wrong invalid incorrect missing",
    "required optional field at least characters and or for from with without to of in on by be has have",
    "been it we they if when while before after use used using",
)
# What may stand behind the last word of a name without changing its meaning.
TRAILING: Final = _words(
    "1 2 3 4 5 prod production staging stage dev test live old new current prev previous v1 v2 b64 base64",
    "hex plain plaintext raw value val string str literal primary secondary backup eu us default",
    "part part1 part2 part3 half first second",
)
