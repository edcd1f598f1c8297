"""`python -m benchmarks` from the project's root."""

import sys

from benchmarks.run import main

sys.exit(main())
