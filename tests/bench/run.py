"""Start the benchmark: `make bench`, or `python tests/bench/run.py --help`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure import main

if __name__ == "__main__":
    sys.exit(main())
