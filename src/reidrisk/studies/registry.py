"""All studies by name."""

from __future__ import annotations

from dataclasses import replace

from reidrisk.base.errors import OptionError
from reidrisk.base.streams import checked_seed
from reidrisk.studies import (
    carey,
    carey_items,
    dick,
    dick_users,
    floc,
    floc_chrome,
    floc_private,
    floc_weeks,
    galozy,
    jha,
    jha_bayes,
    jha_improvements,
    jha_limits,
    jha_parameters,
    jha_users,
)
from reidrisk.studies.dick_release import FittedStudy
from reidrisk.studies.sources import missing_data
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
        needs=("lastfm", "msweb"),
    ),
    Study(
        "carey-information",
        "Topics API: information of a single epoch, and the bound it gives",
        "carey, Appendix F.1.4 and Lemma 9",
        1_000_000,
        (1.0, 4.0),
        carey.single_epoch,
    ),
    Study(
        "jha-fig2",
        "Topics API: what people visit",
        "jha, Figure 2",
        268,
        (2.0, 0.0),
        jha_users.figure_2,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig3",
        "Topics API: attacks over time, right links",
        "jha, Figure 3",
        jha.USERS,
        (5.0, 30_000.0),
        jha.figure_3,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig4",
        "Topics API: attacks over time, wrong links",
        "jha, Figure 4",
        jha.USERS,
        (5.0, 30_000.0),
        jha.figure_4,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig5",
        "Topics API: weighted Hamming that may abstain",
        "jha, Figure 5",
        jha.USERS,
        (2.0, 3_000.0),
        jha_parameters.figure_5,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig6",
        "Topics API: thresholds of the loose attack, right links",
        "jha, Figure 6",
        jha.USERS,
        (3.0, 15_000.0),
        jha.figure_6,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig7",
        "Topics API: thresholds of the loose attack, wrong links",
        "jha, Figure 7",
        jha.USERS,
        (3.0, 15_000.0),
        jha.figure_7,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig8",
        "Topics API: number of users",
        "jha, Figure 8",
        jha_parameters.SIZES[-1],
        (5.0, 900.0),
        jha_parameters.figure_8,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig9",
        "Topics API: number z of topics held",
        "jha, Figure 9",
        jha.USERS,
        (5.0, 10_000.0),
        jha_parameters.figure_9,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig10",
        "Topics API: probability p of a random topic",
        "jha, Figure 10",
        jha.USERS,
        (5.0, 10_000.0),
        jha_parameters.figure_10,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig11",
        "Topics API: the attacker's best and worst case, right links",
        "jha, Figure 11",
        jha.USERS,
        (2.0, 7_000.0),
        jha.figure_11,
        needs=("jha-rates",),
    ),
    Study(
        "jha-fig12",
        "Topics API: the attacker's best and worst case, wrong links",
        "jha, Figure 12",
        jha.USERS,
        (2.0, 7_000.0),
        jha.figure_12,
        needs=("jha-rates",),
    ),
    Study(
        "jha-bayes",
        "Topics API: a better attacker over time",
        "jha, Figure 3, with our attack",
        jha.USERS,
        (55.0, 45_000.0),
        jha_bayes.curves_of_bayes,
        needs=("jha-rates",),
    ),
    Study(
        "jha-calibration",
        "Topics API: do the attacker's probabilities hold?",
        "our attack, on the populations of jha",
        jha.USERS,
        (40.0, 20_000.0),
        jha_bayes.calibration,
        needs=("jha-rates",),
    ),
    Study(
        "jha-improvements",
        "Topics API: proposed changes, risk and loss",
        "jha, Section 9.2",
        jha.USERS,
        (45.0, 50_000.0),
        jha_improvements.improvements,
        needs=("jha-rates",),
    ),
    Study(
        "jha-limits",
        "Topics API: what the paper assumes away",
        "jha, Section 9",
        jha.USERS,
        (50.0, 60_000.0),
        jha_limits.limits,
        needs=("jha-rates",),
    ),
    Study(
        "dick-fig1",
        "DP release: the most common topics and pairs",
        "dick, Figures 1 and 7",
        1_000_000,
        (3.0, 10.0),
        dick.figure_1,
        needs=("topics-release",),
    ),
    FittedStudy(
        "dick-fig3",
        "DP release: errors of the model",
        "dick, Figures 3 and 4",
        1_000_000,
        (5.0, 10.0),
        dick.figure_3,
        needs=("topics-release",),
    ),
    FittedStudy(
        "dick-fig5",
        "DP release: distinct topics over four weeks",
        "dick, Figure 5",
        1_000_000,
        (5.0, 12.0),
        dick_users.figure_5,
    ),
    FittedStudy(
        "dick-fig6",
        "DP release: re-identification of real and of synthetic users",
        "dick, Figure 6",
        1_000_000,
        (10.0, 30.0),
        dick_users.figure_6,
        fits=3,
        fits_at_full_size=10,
        needs=("topics-release",),
    ),
    Study(
        "dick-fig8",
        "DP release: one week and another",
        "dick, Figure 8",
        1_000_000,
        (3.0, 10.0),
        dick.figure_8,
    ),
    Study(
        "floc-thresholds",
        "FLoC: cohorts that each threshold blocks",
        "floc, Utility vs privacy; The empty cohort",
        1_000_000,
        (10.0, 5.0),
        floc.thresholds,
        needs=("msweb", "msnbc", "webtrackr", "chrome-topics"),
    ),
    Study(
        "floc-chrome",
        "FLoC: the cohorts that Chrome shipped",
        "floc; Chrome's table 1.0.6",
        100_000,
        (1.0, 20.0),
        floc_chrome.chrome_table,
        needs=("floc-table",),
    ),
    Study(
        "floc-weeks",
        "FLoC: cohorts of several weeks name people",
        "floc, Introduction (k-anonymity)",
        floc_weeks.USERS,
        (5.0, 350.0),
        floc_weeks.weeks,
    ),
    Study(
        "floc-private",
        "FLoC: sensitive cohorts from noisy counts",
        "floc, Use of synced Chrome history",
        1_000_000,
        (8.0, 2.0),
        floc_private.private,
        needs=("msweb", "msnbc", "webtrackr", "chrome-topics"),
    ),
    *galozy.ALL,
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
    without = missing_data(study.needs)
    found = study.run(study.size(users), checked_seed(seed), progress or (lambda stage, share: None))
    return replace(found, without=without)
