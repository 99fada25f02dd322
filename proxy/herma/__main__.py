"""`python -m herma`."""

import sys

from herma.cli import main

sys.exit(main())
