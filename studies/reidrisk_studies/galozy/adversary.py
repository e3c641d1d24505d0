"""galozy, figure 5: the adversary with many guises, for real, against a service with and without limits."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace

from reidrisk import bandits
from reidrisk.bandits import AdversaryResult, Behaviour, ServiceSpec
from reidrisk.bandits.service.local import LocalService
from reidrisk.base.progress import Progress
from reidrisk.present import drawing
from reidrisk.present.words.bandits import strategy_label
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.galozy.people import endomondo
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["STRATEGIES", "adversary_with_guises", "measured"]

STRATEGIES = (
    "own",
    "neighbour:1",
    "neighbour:2",
    "own+laplace:1e-5",
    "microaggregation:5",
    "clusters:8",
    "clusters:8+laplace:1e-5",
    "clusters:24",
    "average",
    "private-clusters:8,5,1e-6",
)
GUISES = (1, 10, 100)
_DRAWN = ("own", "microaggregation:5", "clusters:8", "average")  # in the chart: the others lie on top of these
_PER_DAY = 3  # different profiles per agent, the default of the service


@study(
    "galozy-fig5",
    title="An adversary with many guises, against a service with and without limits",
    reference="galozy, Section 3 and figure 5",
    users=80,
    seconds=(40.0, 0.0),
    data=("endomondo",),
    least=20,
)
def adversary_with_guises(users: int, seed: int, progress: Progress) -> StudyResult:
    """Let made-up people share through a service, and an adversary join it as one agent with 1, 10 and 100 guises."""
    people = endomondo(users, seed)
    rows: list[Row] = []
    drawn: dict[str, dict[int, tuple[float, float, float]]] = {}
    for number, strategy in enumerate(STRATEGIES):
        progress(strategy_label(strategy), number / len(STRATEGIES))
        for limits, found in measured(people.behaviour, strategy, GUISES, seed):
            rows.append(_row(strategy, limits, found))
            if found.likelihood is not None and not limits and strategy in _DRAWN:
                risk = found.likelihood
                drawn.setdefault(strategy, {})[found.guises] = (risk.rate, risk.low, risk.high)
    styles = drawing.ATTACKS
    lines = [
        line(strategy_label(name), style, points) for (name, points), style in zip(drawn.items(), styles, strict=True)
    ]
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=tuple(lines),
        x_title="guises, without limits",
        x_log=True,
        comparisons=tuple(_compared(rows)),
        assumptions=(
            people.note,
            "A real service on this machine, with everyone a member; the adversary is one agent, asks with metadata "
            "of members and of others near them, and knows 91 cells of each member's matrix. People whose matrix it "
            "did not get count as not found. Intervals are 95 %, over members.",
            f"With limits, an agent may ask with {_PER_DAY} different profiles per day. One with as many codes "
            "as guises is not limited by that: it is the row without limits. Nor is one who is after a single person "
            "and knows that person's metadata: one guise is enough.",
            "Aggregates have at least 5 members, in batches that stay together, so clusters are clusters of batches. "
            "Noise comes from the operating system: rows with noise differ a little from run to run.",
        ),
    )


def measured(people: Behaviour, strategy: str, guises: Sequence[int], seed: int) -> list[tuple[bool, AdversaryResult]]:
    """Let people share under a strategy; attack the same version without and with limits."""
    single = strategy.startswith(("own", "neighbour"))
    free = {"requests_per_minute": 0, "profiles_per_day": 0, "updates_per_day": 0}
    spec = ServiceSpec(strategy=strategy, minimum_group=1 if single else 5, rebuild_every=1e6, **free)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/sharing.db"
        named = people
        for limits in (False, True):
            limited = spec.model_copy(update={"profiles_per_day": _PER_DAY if limits else 0})
            with LocalService(limited, database) as service:
                if not limits:
                    named = _shared(service, people)
                for count in guises:
                    spies = service.joined(1)
                    truth = service.membership()
                    found.append((limits, bandits.adversary(spies, named, count, truth, seed=seed)))
                    spies[0].close()
    return found


def _shared(service: LocalService, people: Behaviour) -> Behaviour:
    """Let everyone join and share; return them named by their agents."""
    clients = service.joined(len(people.users))
    for client, record, profile in zip(clients, people.records, people.profiles, strict=True):
        client.share(record, profile)
        client.close()
    service.rebuild()
    return replace(people, users=tuple(client.agent for client in clients))


def _row(strategy: str, limits: bool, found: AdversaryResult) -> Row:
    row: dict[str, str | int | float] = {
        "strategy": strategy,
        "limits": "yes" if limits else "no",
        "guises": found.guises,
        "answered": found.answered,
        "matrices": found.collected,
        "groups": found.groups or 0,
    }
    for name, risk in (("scoreboard", found.scoreboard), ("likelihood", found.likelihood)):
        if risk is not None:
            row |= {name: round(risk.rate, 6), f"{name}_low": round(risk.low, 6), f"{name}_high": round(risk.high, 6)}
    return row


def _compared(rows: Sequence[Row]) -> list[Comparison]:
    """Set what the paper only describes beside what was measured."""

    def found(strategy: str, limits: str, guises: int) -> str:
        row = next(r for r in rows if (r["strategy"], r["limits"], r["guises"]) == (strategy, limits, guises))
        return percent(float(row["likelihood"]))

    most = GUISES[-1]
    each = ", ".join(f"{name} {found(name, 'no', most)}" for name in ("own", "microaggregation:5", "average"))
    return [
        Comparison(
            "how many are linked by an adversary with many guises",
            "described, not measured: 'potentially all the users'",
            f"with {most} guises: {each}",
            "The paper gives its adversary every matrix; here it must ask for them.",
        ),
        Comparison(
            f"the same with {_PER_DAY} profiles per day",
            "not considered",
            f"own {found('own', 'yes', most)}, average {found('average', 'yes', most)}",
            "Limits delay: they hold per agent and day, and not against many codes.",
        ),
    ]
