"""`python -m itbc.cli` is the program too."""

import sys

from itbc.cli import main

sys.exit(main())
