"""Start the quality suite: `make quality`, or `python tests/quality/run.py --help`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "proxy"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from quality.command import main

if __name__ == "__main__":
    sys.exit(main())
