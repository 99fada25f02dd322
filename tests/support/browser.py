"""A real browser: Debian's chromium without a screen, in a profile of its own, driven over WebDriver."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

__all__ = ["browsing", "missing_browser"]

_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The certificate of the suite is its own.
    "--ignore-certificate-errors",
)


def missing_browser() -> str:
    """Tell what is not installed; empty when everything is."""
    return ", ".join(name for name in ("chromium", "chromedriver") if shutil.which(name) is None)


@contextmanager
def browsing(directory: Path, *, hosts: str = "") -> Iterator[Chrome]:
    """Run a browser that keeps nothing; `hosts` are rules where names lead (`MAP name:443 127.0.0.1:port`)."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (*_ARGUMENTS, f"--user-data-dir={directory}", "--window-size=1280,900"):
        options.add_argument(argument)
    if hosts:
        options.add_argument(f"--host-resolver-rules={hosts}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, ChromeService(shutil.which("chromedriver")))
    try:
        driver.set_page_load_timeout(60)
        yield driver
    finally:
        driver.quit()
