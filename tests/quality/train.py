"""Start the training of the model of prompts: `make train`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "proxy"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from quality.train_likeness import main

if __name__ == "__main__":
    sys.exit(main())
