"""The nginx configuration that is shown."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.tree import ROOT

EXAMPLE = ROOT / "deploy/examples/nginx.conf"

pytestmark = pytest.mark.e2e


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_accepts_the_example(tmp_path: Path) -> None:
    """The file can be included in an `http` block as it stands, but for certificate and address."""
    subject = "-nodes -days 1 -subj /CN=agent.example.com -keyout privkey.pem -out fullchain.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ed25519", *subject.split()],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    shown = EXAMPLE.read_text()
    local = re.sub(r"/etc/ssl/agent", str(tmp_path), shown).replace(
        "listen 443 ssl", f"listen unix:{tmp_path}/s ssl"
    )
    (tmp_path / "gate.conf").write_text(local)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  access_log off;\n  include gate.conf;\n}}\n"
    )
    checked = subprocess.run(
        ["nginx", "-t", "-c", tmp_path / "nginx.conf", "-p", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr
