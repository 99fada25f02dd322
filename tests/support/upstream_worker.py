"""Calls hermes-agent's own functions. Runs in the virtual environment that has it: one JSON line in, one out.

In: `{"do": "redact"|"lines"|"each"|"entry"|"prompt", "value": …, "name": …, "repeat": n}`; `lines` counts those that its redaction changes, `each` redacts pieces one by one. Out: `{"answer": …, "us": …}`, the median time of a
call in microseconds over `repeat` calls.
"""

import json
import os
import statistics
import sys
import tempfile
import time


def main() -> None:
    """Answer until standard input ends."""
    # Whatever the imported program prints goes to standard error, not between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HERMES_HOME=home, HOME=home)
        from agent.redact import redact_sensitive_text
        from hermes_cli.mcp_security import validate_mcp_server_entry
        from tools.cronjob_tools import _scan_cron_prompt

        functions = {
            "redact": lambda asked: redact_sensitive_text(asked["value"], force=True),
            "lines": lambda asked: sum(
                redact_sensitive_text(line, force=True) != line for line in asked["value"]
            ),
            "each": lambda asked: "".join(
                redact_sensitive_text(piece, force=True) for piece in asked["value"]
            ),
            "entry": lambda asked: bool(validate_mcp_server_entry(asked["name"], asked["value"])),
            "prompt": lambda asked: bool(_scan_cron_prompt(asked["value"])),
        }
        for line in sys.stdin:
            asked = json.loads(line)
            call = functions[asked["do"]]
            times = []
            for _ in range(asked.get("repeat", 1)):
                start = time.process_time()
                answer = call(asked)
                times.append(time.process_time() - start)
            print(
                json.dumps({"answer": answer, "us": 1e6 * statistics.median(times)}), file=answers, flush=True
            )


if __name__ == "__main__":
    main()
