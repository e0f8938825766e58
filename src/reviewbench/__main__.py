"""`python -m reviewbench` is the `reviewbench` command."""

import sys

from reviewbench.cli.main import main

sys.exit(main())
