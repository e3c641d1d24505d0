"""All studies by name."""

from __future__ import annotations

from reidrisk.errors import OptionError
from reidrisk.streams import checked_seed
from reidrisk.studies import carey, carey_items
from reidrisk.studies.study import Progress, Study, StudyResult

__all__ = ["STUDIES", "find", "run"]

_ALL = (
    Study(
        "carey-fig2",
        "Topics API: risk against the number of epochs",
        "carey, Figure 2",
        carey.PUBLISHED_USERS,
        (5.0, 75.0),
        carey.figure_2,
    ),
    Study(
        "carey-fig4",
        "Samples of a user's items: risk against the number of samples",
        "carey, Figure 4",
        carey_items.PUBLISHED_USERS,
        (15.0, 75.0),
        carey_items.figure_4,
    ),
    Study(
        "carey-information",
        "Topics API: information of a single epoch, and the bound it gives",
        "carey, Appendix F.1.4 and Lemma 9",
        1_000_000,
        (1.0, 4.0),
        carey.single_epoch,
    ),
)

STUDIES = {study.name: study for study in _ALL}


def find(name: str) -> Study:
    """Return the study of this name, or list the names there are.

    Examples
    --------
    >>> find("carey-fig2").reference
    'carey, Figure 2'
    """
    if name not in STUDIES:
        raise OptionError(f"there is no study {name!r}; choose one of {', '.join(STUDIES)}")
    return STUDIES[name]


def run(name: str, users: int | None = None, seed: int = 0, progress: Progress | None = None) -> StudyResult:
    """Run a study: at its published size, unless told otherwise.

    Parameters
    ----------
    name : str
        One of ``STUDIES``.
    users : int, optional
        Size of the simulated population.
    seed : int
        Same users and seed, same result.
    progress : callable, optional
        Is told what is done and the share of the work behind.

    Examples
    --------
    >>> result = run("carey-information", users=20_000)
    >>> result.comparisons[0].published
    '7.59'
    """
    study = find(name)
    n = study.users if users is None else users
    if n < 100:
        raise OptionError(f"a study needs at least 100 users, not {n}")
    return study.run(n, checked_seed(seed), progress or (lambda stage, share: None))
