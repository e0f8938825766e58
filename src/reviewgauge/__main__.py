"""`python -m reviewgauge` is the `reviewgauge` command."""

import sys

from reviewgauge.cli.main import main

sys.exit(main())
