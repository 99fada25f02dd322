"""Pages that repeat what the code knows: compared with it, and written anew by `make docs`.

Use it in a test that carries `@pytest.mark.generated`.
"""

import os
from pathlib import Path

from support.tree import ROOT


def check_page(page: str, text: str) -> None:
    """Assert that a page holds exactly this text; under `make docs`, make it so."""
    path: Path = ROOT / page
    if os.environ.get("HERMA_WRITE_DOCS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert path.is_file(), f"{page} is missing; run `make docs`"
    assert path.read_text() == text, f"{page} is out of date; run `make docs`"
