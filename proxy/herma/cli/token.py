"""`herma token job`: a key that starts one scheduled job, and what the configuration has to say about it.

The key is printed once, and the configuration gets its hash: nobody who reads that can start the job.
"""

import argparse
from typing import Any

from herma.cli.handing_over import hand_over
from herma.cli.key import strong_key
from herma.cli.terminal import FINE, USAGE, Terminal
from herma.identity import hash_key
from herma.policy.fire.request import is_job_id

__all__ = ["token_job"]

# As long as a name of the configuration may be.
_MAX_NAME_CHARACTERS = 64


def token_job(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print a new key, or write it to a new file, and print the entry that takes it."""
    if not is_job_id(arguments.job_id):
        terminal.note("herma: expected the id of a job: up to 64 letters, digits, dashes and underscores")
        return USAGE
    key = strong_key()
    name = f"job-{arguments.job_id}"[:_MAX_NAME_CHARACTERS]
    entry = {"name": name, "job_id": arguments.job_id, "hash": hash_key(key)}
    text = key.reveal().decode("ascii")
    code = hand_over("key", text, "a key of 256 bits", arguments, terminal, entry=entry)
    if code == FINE and not arguments.json:
        # The key alone goes where a pipe can take it from.
        say = terminal.note if arguments.out is None else terminal.out
        say(_yaml(entry))
    return code


def _yaml(entry: dict[str, Any]) -> str:
    # In quotes: an id of digits is text.
    lines = [f"        {name}: '{value}'" for name, value in entry.items()]
    lines[0] = f"      - name: '{entry['name']}'"
    return "\n".join(["upstream:", "  cron_fire:", "    job_keys:", *lines])
