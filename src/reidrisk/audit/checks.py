"""Whether a result agrees with itself: rows missing, shares that do not add up, ends that are not the rows'."""

from collections import Counter

from reidrisk.attacks.registry import entry
from reidrisk.audit import plan
from reidrisk.audit.axis import counts_to_look_at
from reidrisk.audit.ends import error_parts
from reidrisk.audit.gate import gate
from reidrisk.audit.result import AuditResult
from reidrisk.audit.spec import AuditSpec, Published, other_counts, powers_of_two, usual_epochs
from reidrisk.audit.steps import strongest_first
from reidrisk.base import FormatError, ReidRiskError, Risk
from reidrisk.base.plain import plain

_ROUNDING = 1e-9


def check_agreement(result: AuditResult) -> None:
    """Refuse a result whose parts contradict each other: it was damaged or edited.

    A result is not signed: whoever edits all of it consistently is not found out here.
    """
    try:
        _must(not any(answer.also for answer in result.also), "an answer to a further question has further questions")
        _must(strongest_first(result.questions)[0] is result, "the question with the highest rate does not come first")
        for answer in result.questions:
            _must(answer.n_questions == len(result.questions), f"the error is shared by {answer.n_questions} questions")
            _must(answer.gate is None or answer is result, "there is more than one answer of the gate")
            spec = AuditSpec.model_validate(answer.spec)
            _check_sizes(answer, spec)
            _check_epochs(answer, spec)
            _check_rows(answer, spec)
            if answer.upgraded_from is None:  # format 1 held less, and no gate passes on it
                _check_parts(answer, spec)
                _check_truth(answer)
        _check_gate(result, AuditSpec.model_validate(result.spec))
    except FormatError:
        raise
    except ReidRiskError as error:
        raise FormatError(f"the result contradicts itself: {error}") from error


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise FormatError(f"the result contradicts itself: {what}; it was damaged or edited, so audit again")


def _check_sizes(result: AuditResult, spec: AuditSpec) -> None:
    drawn = result.n_scored + (result.n_strangers or 0)
    _must(0 < result.n_scored <= drawn <= result.n_queries, f"{drawn:,} of {result.n_queries:,} records were drawn")
    _must(result.n_choosy <= drawn, f"{result.n_choosy:,} records were asked about, and {drawn:,} drawn")
    _must((result.truth is None) == (not result.risks), "there are rates without truth, or truth without rates")
    _must(result.truth_doubt is None or bool(result.risks), "a truth that is not known is in doubt")
    unasked, asking = result.n_unasked, result.n_queries - (result.n_strangers or 0)
    known = unasked is None or (result.truth is not None and result.n_targets - asking <= unasked < result.n_targets)
    _must(known, f"{asking:,} records ask for all but {unasked} of {result.n_targets:,} known ones")
    if isinstance(spec.inputs, Published):
        named = (spec.inputs.users, spec.inputs.users, spec.inputs.epochs)
        same = (result.n_targets, result.n_queries, result.n_epochs) == named and result.truth == "simulated"
        _must(same, "the people are not the simulated ones that its spec names")


def _check_epochs(result: AuditResult, spec: AuditSpec) -> None:
    asked = _asked(result, spec)
    found = tuple(sorted((*result.epochs, *result.epochs_skipped)))
    _must(bool(result.epochs) and found == asked, "the numbers of epochs are not those that were asked for")
    for r in (*(gap.n_epochs for gap in result.differences), *(bound.n_epochs for bound in result.bounds)):
        _must(r is None or r in result.epochs, f"a difference or bound is about {r} epochs")
    # Tables that hold no token in the first r epochs hold none in fewer.
    _must(max(result.epochs_skipped, default=0) < min(result.epochs), "epochs were skipped that hold tokens")


def _asked(result: AuditResult, spec: AuditSpec) -> tuple[int, ...]:
    """Return the numbers of epochs, items, facts or columns that were to be looked at."""
    size, all_of_it = result.n_epochs, (result.n_epochs,)
    powers = powers_of_two(max((r for r in result.epochs if r < size), default=0), size)
    usual = {"epochs": usual_epochs(size), "facts": usual_epochs(size), "items": (*powers, size)}
    return counts_to_look_at(spec, size, usual.get(result.axis, all_of_it), result.axis)


def _check_rows(result: AuditResult, spec: AuditSpec) -> None:
    left_out = {one.attack for one in result.not_run if one.why == "nothing to learn"}
    for name in {*(spec.attacks or ())} - left_out:
        _must(entry(name).attack.__name__ in result.descriptions, f"{name} was asked for and is not described")
    if not result.risks:
        return
    rows = Counter((risk.attack, risk.n_epochs, risk.which) for risk in result.risks)
    choices = {risk.which for risk in result.risks if risk.which}
    for which in choices:
        _check_choice(result, spec, which)
    wanted = [(len(which), which) for which in choices] + [(r, ()) for r in result.epochs]
    for attack in result.descriptions:
        for r, which in wanted[-1:] if plan.for_whole(attack) else wanted:
            _must(rows.pop((attack, r, which), 0) == 1, f"there is not one row of {attack} at {r} epochs")
    _must(not rows, f"there is a row of {next(iter(rows), ('', 0))[0][:40]!r} that nothing describes")
    if result.axis == "columns":
        return _check_ends(result, spec)
    told = [plain(note.get("chosen")) for note in result.notes if note.code == "periods-compared"]
    chosen = [list(which) for which in sorted(choices, key=lambda one: (len(one), one))]
    _must(told in ([], [chosen]), "the notes name other epochs than the rows")
    _check_ends(result, spec)


def _check_ends(result: AuditResult, spec: AuditSpec) -> None:
    parts = error_parts(result.risks, result.n_epochs, _asked(result, spec), result.axis, result.n_questions)
    for i, (risk, low, n) in enumerate(zip(result.risks, result.lower_ends, parts, strict=True)):
        _check_row(result, spec, risk, f"risks[{i}]")
        _must(low <= risk.low + _ROUNDING, f"lower_ends[{i}] is above the lower end of its row")
        error = 1.0 - risk.level
        possible = _follows(risk, error, risk.low, risk.high) and _follows(risk, error / n, low)
        old = result.upgraded_from is not None
        _must(old or possible, f"no credits have the ends of risks[{i}], with its rate, size and design effect")


def _check_choice(result: AuditResult, spec: AuditSpec, which: tuple[int, ...]) -> None:
    """Refuse epochs that cannot have been chosen as the most telling, and what is no column alone."""
    if result.axis == "columns":
        _must(len(which) == 1 and 0 <= which[0] < result.n_epochs, "there are rows of columns that are not there")
        return
    counts = _asked(result, spec)
    rising = list(which) == sorted(set(which)) and 0 <= which[0] <= which[-1] < result.n_epochs
    # The first r are no choice where r was asked for, and one where it was not.
    chosen = which[-1] >= len(which) if len(which) in counts else len(which) in other_counts(counts, result.n_epochs)
    _must(rising and chosen, "there are rows of epochs that nobody chose")
    same = [one for one in {risk.which for risk in result.risks} if len(one) == len(which)]
    _must(len(same) == 1, f"there are {len(same)} choices of {len(which)} epochs")


def _follows(risk: Risk, error: float, low: float, high: float | None = None) -> bool:
    """Whether credits with this mean, number and design effect can have these ends.

    Gaffke's ends are closest where all credits are equal, x s and 1 - (1 - x) s with s = tail^(v/n) for a design effect
    v, and furthest where all are 0 or 1 (Clopper-Pearson).
    """
    from scipy.special import betaincinv

    x, n = risk.rate, risk.n_queries / risk.design_effect
    tail = max(error / 2.0, 5e-13)
    equal, ones = tail ** (1.0 / n), min(x * n, n)
    least = betaincinv(ones, n - ones + 1.0, tail) if ones > 0.0 else 0.0
    most = betaincinv(ones + 1.0, n - ones, 1.0 - tail) if ones < n else 1.0
    slack = 1e-6 + 0.01 * (most - least)  # the quantiles are a saddlepoint approximation
    fits = (least - slack <= low or low == 0.0) and low <= x * equal + slack
    return bool(fits and (high is None or 1.0 - (1.0 - x) * equal - slack <= high <= most + slack))


def _is_stored(result: AuditResult) -> bool:
    return any(note.code == "stored-tables" for note in result.notes)


def _check_row(result: AuditResult, spec: AuditSpec, risk: Risk, where: str) -> None:
    total = risk.rate + risk.incorrect + risk.abstained
    _must(abs(total - 1.0) <= 1e-6, f"the shares of {where} add up to {total:.6g}, not to 1")
    _must(risk.n_targets == result.n_targets, f"{where} has {risk.n_targets:,} targets, not {result.n_targets:,}")
    # Joins measure everyone with a counterpart, beside the people who were drawn for other attacks.
    joined = risk.everyone and _is_stored(result)
    fits = result.n_scored <= risk.n_queries <= result.n_queries if joined else risk.n_queries == result.n_scored
    _must(fits, f"{where} has {risk.n_queries:,} records, not {result.n_scored:,}")
    _must(abs(risk.level - spec.level) <= _ROUNDING, f"{where} is at the level {risk.level:g}, not {spec.level:g}")
    _must(abs(risk.baseline * risk.n_targets - 1.0) <= 1e-6, f"the baseline of {where} is not 1 in the targets")
    everyone = result.n_scored + (result.n_strangers or 0) == result.n_queries
    _must(joined or risk.everyone == everyone, f"{where} says otherwise whether everyone was scored")


def _check_parts(result: AuditResult, spec: AuditSpec) -> None:
    """Hold what was derived from the rows against them."""
    _must(spec.attacks is not None, "it does not say which attacks were asked for")
    told = [plain(note.get("skipped")) for note in result.notes if note.code == "periods-without-items"]
    _must(told == [list(result.epochs_skipped)] * bool(result.epochs_skipped), "the notes skip other epochs")
    not_run = [(one.attack, one.why) for one in result.not_run]
    listed = [(note.get("attack"), note.get("why")) for note in result.notes if note.code == "attack-not-run"]
    _must(not_run == listed, "the notes name other attacks that did not run")
    worst = result.strongest
    if worst is None:
        _must(result.choosy_epochs in result.epochs, f"choosiness is about {result.choosy_epochs} epochs")
        return
    _must(result.choosy_epochs == worst.n_epochs, "choosiness is not about the epochs of the strongest row")
    rates = {(risk.attack, risk.n_epochs): risk.rate for risk in result.risks if not risk.which}
    whole = sum(plan.for_whole(attack) for attack in result.descriptions)
    # Who compares whole records is compared where these were looked at; if nobody else ran, one of them is the first.
    others = len(result.descriptions) - whole
    pairs = max(others - 1, 0) * len(result.epochs)
    pairs += (whole - (not others)) * (result.n_epochs in result.epochs)
    _must(len(result.differences) == pairs, f"there are {len(result.differences)} differences of {pairs} pairs of rows")
    for gap in result.differences:
        one, other = (rates.get((attack, gap.n_epochs)) for attack in (gap.attack, gap.other))
        # Of stored tables, differences are of the people drawn, and some rows of everyone.
        near = 1.0 if _is_stored(result) else _ROUNDING
        follows = one is not None and other is not None and abs(one - other - gap.difference) <= near
        _must(follows, f"the difference of {gap.attack[:40]} at {gap.n_epochs} epochs is not that of its rows")
    if result.exposure is not None:
        scored = worst.n_queries if worst.everyone and _is_stored(result) else result.n_scored
        _must(result.exposure.n == scored, "the exposure is of other records than were scored")
        low, high = (sum(cell[i] * cell[2] for cell in result.exposure.histogram) for i in (0, 1))
        possible = low - 1e-6 <= worst.rate <= high + 1e-6
        _must(possible or not result.exposure.histogram, "the exposure is not that of the strongest row")


def _check_truth(result: AuditResult) -> None:
    """Compare what the result, its notes and the gate say of the check of the truth."""
    codes = [note.code for note in result.notes]
    _must((result.truth_check is None) == (result.truth is None), "the truth was not checked, or there is none")
    outcomes = {"doubt": "truth-in-doubt", "suspicion": "truth-suspected", "no power": "truth-not-checked"}
    for outcome, code in outcomes.items():
        _must(codes.count(code) == (result.truth_check == outcome), "the notes say otherwise whether truth stood up")
    _must((result.truth_doubt is not None) == (result.truth_check == "doubt"), "the truth is in doubt, or it is not")


def _check_gate(result: AuditResult, spec: AuditSpec) -> None:
    if result.gate is None:
        _must(spec.max_risk is None or not result.risks, "a limit was given, and there is no answer")
        return
    again = gate(result, result.gate.max_risk, result.gate.required, result.gate.told)
    _must(spec.max_risk == result.gate.max_risk, "the gate has another limit than the spec")
    of_rows = ("rate", "low", "high", "attack", "n_epochs", "which", "n_rows", "level")
    for name in ("answer", "why", "not_run", "n_questions", "told", *of_rows):
        _must(getattr(again, name) == getattr(result.gate, name), f"the gate's {name} does not follow from the rows")
    beyond = ([one.to_dict() for one in each.beyond] for each in (again, result.gate))
    _must(next(beyond) == next(beyond), "the gate's fuller steps do not follow from the rows")
    for name in ("truth", "truth_check", "simulated", "strangers", "unasked"):
        _must(getattr(again, name) == getattr(result.gate, name), f"the gate says otherwise of {name}")
