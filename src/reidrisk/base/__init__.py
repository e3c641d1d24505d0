"""What everything stands on: errors, checks, random streams, intervals, user ids, results.

A name is imported when it is first asked for, so that who needs an error alone does not load NumPy.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reidrisk.base.arrays import *
    from reidrisk.base.errors import *
    from reidrisk.base.extras import *
    from reidrisk.base.foreign import *
    from reidrisk.base.indices import *
    from reidrisk.base.intervals import *
    from reidrisk.base.kernels import *
    from reidrisk.base.notes import *
    from reidrisk.base.options import *
    from reidrisk.base.parallel import *
    from reidrisk.base.progress import *
    from reidrisk.base.results import *
    from reidrisk.base.streams import *
    from reidrisk.base.users import *
    from reidrisk.base.vocabulary import *

_NAMES = {
    "arrays": "Array ArrayLike Bools Bytes Ends Floats Ints Ints32 Signed UInts frozen",
    "errors": "DataError FormatError OptionError ReidRiskError SizeError TruthError",
    "extras": "require",
    "foreign": "printable reason",
    "indices": "checked_csr",
    "intervals": "difference_interval mean_interval",
    "kernels": "njit",
    "notes": "Note",
    "options": "between_0_and_1 from_0_to_1 is_number is_whole of_class one_of whole whole_up_to",
    "parallel": "Crew each n_threads slices",
    "progress": "Progress Stage Steps silent",
    "results": "Bound Covers Difference Measurement Result Risk Spoken",
    "streams": "BLOCK blocks checked_seed fresh_seed seed_or_fresh stream",
    "users": "UserIds as_users find_users first_seen is_text take_users",
    "vocabulary": "Vocabulary",
}
_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
