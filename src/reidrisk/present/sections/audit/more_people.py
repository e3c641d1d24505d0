"""What if there were more people: the forecast, its interval, and what it assumes."""

from reidrisk.audit import AuditResult
from reidrisk.present import Section, Table, Terms
from reidrisk.present.sections.written import written
from reidrisk.present.words import about_in_words, rate_cells, sentence


def section(result: AuditResult, terms: Terms) -> Section | None:
    """Return the forecast, where one was asked for."""
    found = None if result.further is None else result.further.forecast
    if found is None:
        return None
    last = found.predicted[-1]
    said = {"last": last, "about": about_in_words(last.rate), "n": found.n_targets, "measured": found.measured[-1][1]}
    rows = [(f"{one.population:,}", *rate_cells(one.rate, one.low, one.high)) for one in found.predicted]
    table = Table((terms.people, "found", "interval"), tuple(rows), (0, 1, 2))
    caution = " ".join(sentence(note, terms) for note in found.notes)
    return written("audit.more-people", terms, said, table=table, caution=caution, console=True)
