"""Among the first candidates: how far down the list of the strongest attack the right record stands."""

from functools import partial
from typing import Any

from reidrisk.audit import AuditResult
from reidrisk.base.notes import Note
from reidrisk.present import Figure, Section, Table, Terms, drawing
from reidrisk.present.drawing import Line, rated
from reidrisk.present.scales import rate_scale
from reidrisk.present.words import assumed, attack_label, in_words

_TITLE = "Among the first candidates"


def section(result: AuditResult, terms: Terms) -> Section | None:
    """Return the rank curve of an audit of vectors, and the recall at high precision."""
    found = {note.code: note for note in result.notes if note.code in ("rank-curve", "recall-at-precision")}
    if not found:
        return None
    said = [assumed(note, terms) for note in found.values()]
    see, caution = tuple(one.holds for one in said), " ".join(one.otherwise for one in said)
    ranks = found.get("rank-curve")
    if ranks is None:
        return Section(_TITLE, see=see, caution=caution, name="ranks")
    rows = tuple((f"{k:,}", in_words(share)) for k, share in ranks["at"])
    table = Table(("first candidates", f"{terms.people} whose own {terms.record} is among them"), rows, (0, 1))
    if len(rows) < 2:
        return Section(_TITLE, see=see, table=table, caution=caution, name="ranks")
    figure = Figure(partial(chart, ranks, terms), f"Share of {terms.people} by candidates. {see[0]}", table)
    return Section(_TITLE, see=see, figure=figure, caution=caution, name="ranks")


def chart(ranks: Note, terms: Terms, narrow: bool = False) -> Any:
    """Draw the share of people whose own record is among the first k candidates."""
    points = tuple(rated(k, share, None, None) for k, share in ranks["at"])
    label = attack_label(ranks["attack"])
    line = Line(label, label, in_words(points[-1].rate), drawing.ATTACKS[0], points)
    counts = [point.x for point in points]
    x = drawing.across("first candidates looked at", [counts[0], counts[-1]], counts, log=True, format="d")
    scale = rate_scale([point.rate for point in points])
    return drawing.line_chart([line], x, scale, f"{terms.people} among them", "candidates", narrow)
