"""Makes the twins of the kernels importable from the tests beside them and below."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
