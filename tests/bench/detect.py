"""Measure the detectors beside the upstream's own functions: `make bench-detect`, or `python tests/bench/detect.py --help`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "proxy"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from detect_measure import main

if __name__ == "__main__":
    sys.exit(main())
