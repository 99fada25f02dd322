"""The page about the dashboard, followed word by word: from a dashboard that anybody may use to one that asks who comes.

The commands and the configuration are those of the page. The machine has a network of its own, so that the ports are the page's,
and a certificate as the page about TLS makes one.
"""

import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.hermes import Hermes, hermes_venv
from support.login import COOKIE, PASSWORDS, cookie_of, form_headers, login_body
from support.network import PUBLIC, own_network
from support.raw import Connection, Response, request
from support.stub_model import StubModel
from support.tree import ROOT

pytestmark = pytest.mark.e2e

PAGE = (ROOT / "docs/dashboard.md").read_text().partition("## The API server behind")[0]
EXPOSE, PASSWORD, START = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(CONFIG,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
CERTIFICATE = next(
    text
    for text in re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs/tls.md").read_text(), re.MULTILINE | re.DOTALL)
    if text.startswith("openssl req")
)
NAME = "agent.example.com"
PORT = 8443
ORIGIN = f"https://{NAME}:{PORT}"
TOKEN = re.compile(rb'__HERMES_SESSION_TOKEN__\s*=\s*"([^"]+)"')


class Exposed(Hermes):
    """The dashboard as the page starts it, on its usual port and with a token that it makes itself."""

    ready_path = "/api/status"

    def settings(self) -> dict[str, str]:
        """Give the variables that make it this kind of server: none."""
        return {}

    def arguments(self) -> tuple[str, ...]:
        """Give what follows `hermes` on the page; the pages of a package are built already."""
        return (*EXPOSE.split()[1:], "--skip-build")


def typed(script: str, directory: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Type a piece of the page into a shell."""
    places = [str(Path(sys.executable).parent), str(hermes_venv() / "bin"), os.environ["PATH"]]
    environ = {**os.environ, "PATH": os.pathsep.join(places), "PYTHONPATH": str(ROOT / "proxy")}
    return subprocess.run(
        ["sh", "-ec", script],
        cwd=directory,
        env=environ,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def running(command: str, directory: Path) -> Iterator[None]:
    """Run the gate until it serves, and then until the test is done."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "proxy")}
    main = "import sys; from herma.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", main, *command.split()[1:]],
        cwd=directory,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as gate:
        assert gate.stderr
        try:
            said = next((line for line in gate.stderr if "serving on" in line), "")
            assert said, "the gate does not serve"
            yield
        finally:
            gate.terminate()
            gate.stderr.read()


def asked(directory: Path, method: str, target: str, cookie: str = "", body: bytes = b"") -> Response:
    """Ask over TLS as a browser at the public name does."""
    trust = ssl.create_default_context(cafile=directory / "fullchain.pem")
    trust.check_hostname = False
    headers = form_headers(ORIGIN if body else None, cookie) if body or cookie else []
    message = request(method, target, headers=headers, host=f"{NAME}:{PORT}", body=body)
    with Connection(PORT, host=PUBLIC, tls=trust) as connection:
        connection.send(message)
        return connection.talk().first


def test_the_page_leads_from_an_exposed_dashboard_to_a_safe_one(tmp_path: Path, model: StubModel) -> None:
    """A stranger is asked to log in, a person who did sees the dashboard, and its token opens nothing any more."""
    password = PASSWORDS["alice"]
    made = typed(CERTIFICATE.replace("localhost", NAME), tmp_path)
    assert made.returncode == 0, made.stderr
    with own_network():
        dashboard = Exposed(tmp_path / "hermes", model.url)
        dashboard.port = 9119
        with dashboard:
            hashed = typed(PASSWORD, tmp_path, password + "\n")
            assert hashed.returncode == 0, hashed.stderr
            (tmp_path / "herma.yaml").write_text(CONFIG)
            check, run = START.strip().splitlines()
            checked = typed(check, tmp_path)
            assert checked.returncode == 0, checked.stdout + checked.stderr
            with running(run, tmp_path):
                stranger = asked(tmp_path, "GET", "/")
                assert stranger.status in {303, 401}
                assert asked(tmp_path, "GET", "/api/config").status == 401
                entered = asked(tmp_path, "POST", "/.herma/login", body=login_body("alice"))
                assert entered.status == 303, entered.body
                cookie = cookie_of(entered.all("set-cookie"))
                page = asked(tmp_path, "GET", "/", cookie)
                (stand_in,) = TOKEN.findall(page.body)
                assert page.status == 200
                assert asked(tmp_path, "GET", "/api/config", cookie).status == 200
                assert COOKIE.encode() not in page.body
                # The page's token opens neither the gate nor the dashboard behind it.
                bearer = [("Authorization", f"Bearer {stand_in.decode()}")]
                with Connection(9119) as connection:
                    session = [("X-Hermes-Session-Token", stand_in.decode())]
                    connection.send(
                        request("GET", "/api/config", headers=[*bearer, *session], host="127.0.0.1:9119")
                    )
                    assert connection.talk().first.status == 401
