"""`python -m tillhouse` is the command."""

import sys

from tillhouse.cli import main

if __name__ == "__main__":
    sys.exit(main())
