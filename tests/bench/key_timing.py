"""Ask whether the time of a refusal tells how near a wrong key is to a right one (bypass class 77).

    python tests/bench/key_timing.py [--rounds N] [--write]

Wrong keys of several kinds are verified in turns, in random order, by a keyring as the gate has it. For each kind the share of
pairs in which it took longer than a key that has nothing in common with a right one is told: one half means that an observer
who sees every time exactly learns nothing. Beside it stands a comparison that stops at the first difference, to show that the
measure would see one. `--write` puts the table into docs/security/timing.md. No test looks at a clock.
"""

import argparse
import secrets
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from herma.identity import KeyRecord, Keyring
from herma.policy.grant import Scope
from herma.policy.secret import Secret

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/security/timing.md"
ROUNDS = 40_000
LENGTH = 48
# More keys than most gates have: what depends on the place of a key in the ring would show.
KEYS = 8
# Times beyond these quantiles are the machine's, not the comparison's.
KEPT = 0.95


def _right() -> list[bytes]:
    return [secrets.token_hex(LENGTH // 2).encode() for _ in range(KEYS)]


def _near(key: bytes, same: int) -> bytes:
    """Return a wrong key of the same length that begins like the right one."""
    rest = secrets.token_hex(LENGTH).encode()[: LENGTH - same - 1]
    differing = b"f" if key[same : same + 1] != b"f" else b"0"
    return key[:same] + differing + rest


def _ring(keys: list[bytes]) -> Callable[[bytes], object]:
    ring = Keyring([KeyRecord(f"key{n}", frozenset({Scope.RUN}), Secret(key)) for n, key in enumerate(keys)])
    now = datetime(2026, 6, 1, tzinfo=UTC)
    return lambda token: ring.verify(Secret(token), "192.0.2.1", now)


def _leaky(keys: list[bytes]) -> Callable[[bytes], object]:
    """Compare byte by byte up to the first difference, as nobody should."""

    def verify(token: bytes) -> bool:
        for key in keys:
            for index in range(LENGTH):
                if index >= len(token) or token[index] != key[index]:
                    break
            else:
                return True
        return False

    return verify


def longer(times: list[int], base: list[int]) -> float:
    """Return the share of pairs in which the first took longer, ties halved: the area under the ROC curve."""
    times, base = (sorted(found)[: int(len(found) * KEPT)] for found in (times, base))
    wins = sum(bisect_left(base, one) + bisect_right(base, one) for one in times)
    return wins / (2 * len(times) * len(base))


def measure(verify: Callable[[bytes], object], keys: list[bytes], rounds: int) -> dict[str, float]:
    """Return the share for each kind of wrong key."""
    kinds: dict[str, Callable[[Random], bytes]] = {
        "nothing in common": lambda _: _near(keys[0], 0),
        "nothing in common, once more": lambda _: _near(keys[0], 0),
        "8 characters of the first key": lambda _: _near(keys[0], 8),
        "24 characters of the first key": lambda _: _near(keys[0], 24),
        "all but the last of the first key": lambda _: _near(keys[0], LENGTH - 1),
        "all but the last of the last key": lambda _: _near(keys[-1], LENGTH - 1),
        "all but the last of any key": lambda dice: _near(dice.choice(keys), LENGTH - 1),
    }
    dice, times = Random(77), {kind: [] for kind in kinds}
    # Made beforehand: what was done just before a call changes how long it takes.
    tokens = {kind: [make(dice) for _ in range(rounds)] for kind, make in kinds.items()}
    names = list(kinds)
    for turn in range(rounds):
        dice.shuffle(names)
        for kind in names:
            token = bytes(bytearray(tokens[kind][turn]))  # in the cache, whichever it is
            begun = time.perf_counter_ns()
            verify(token)
            times[kind].append(time.perf_counter_ns() - begun)
    return {kind: longer(found, times["nothing in common"]) for kind, found in times.items()}


def render(rounds: int, ours: dict[str, float], leaky: dict[str, float]) -> str:
    """Write the page."""
    lines = [
        "# Does the time of a refusal tell how near a key was?",
        "",
        "Every stored hash is compared with the hash of what was sent, all of them, with `hmac.compare_digest`. What differs early in a",
        "key differs everywhere in its hash. `make bench-timing WRITE=1` measures it and writes this page: the share of pairs in which a",
        f"wrong key of a kind took longer than one that has nothing in common with any of the {KEYS} keys, over {rounds:,} rounds in random",
        "order. One half says that the times cannot be told apart. The last column is a comparison that stops at the first difference.",
        "",
        "| wrong key | Herma | comparison that stops |",
        "|---|--:|--:|",
        *(
            f"| {kind} | {share:.3f} | {leaky[kind]:.3f} |"
            for kind, share in ours.items()
            if kind != "nothing in common"
        ),
        "",
        "That every record is compared whatever is sent, and by which function, is tested without a clock: `tests/identity/test_keyring.py`.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    keys = _right()
    page = render(
        arguments.rounds,
        measure(_ring(keys), keys, arguments.rounds),
        measure(_leaky(keys), keys, max(1, arguments.rounds // 4)),
    )
    print(page)
    if arguments.write:
        DOCUMENT.write_text(page)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
