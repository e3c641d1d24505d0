"""Exports drawn at random are read as they are meant, refused in one line or noted, never misread in silence."""

from collections import Counter

import numpy as np
import pytest
from generated import Made, drawn

from reidrisk import io
from reidrisk.base.errors import ReidRiskError
from reidrisk.present import words

PARTS, EACH = 8, 110
NOTED = {"unreadable-column", "mixed-date-orders", "ids-in-scientific-notation"}


def meaning(found):
    """Return the events that were read, each as text."""
    events = found.records
    users = events.users.tolist() if hasattr(events.users, "tolist") else list(events.users)
    time = np.zeros(len(events)) if events.time is None else events.time
    stamps = [None] * len(events) if events.time is None else (time * 1e3).round().tolist()
    rows = zip(events.user, stamps, events.item, events.amount.tolist(), strict=True)
    labels = events.vocabulary.labels
    return Counter((str(users[user]), at, labels[item], amount) for user, at, item, amount in rows)


def meant(made: Made):
    """Return the events that an export means, as :func:`meaning` does."""
    stamps = (np.array([event.at for event in made.events], "M8[ms]").astype(np.int64)).tolist()
    rows = zip(made.events, stamps, strict=True)
    return Counter((event.user, float(at), event.item, event.amount) for event, at in rows)


def outcome(made: Made):
    """Say what became of an export, and why."""
    try:
        found = io.read_export(made.path)
    except ReidRiskError as error:
        return ("refused" if len(str(error)) > 20 and "\n" not in str(error) else "raw"), str(error)
    assert all(words.sentence(note) for note in (found.how, *found.notes))
    read, right = meaning(found), meant(made)
    if read == right:
        return "read", ""
    noted = [note for note in found.notes if note.code in NOTED]
    unread = {note["role"] for note in noted if note.code == "unreadable-column"}
    damaged = {note.code for note in noted} - {"unreadable-column"}

    def left(events):  # what is not about the columns that a note names
        return Counter(
            (who, None if "time" in unread else at, what, None if "amount" in unread else n)
            for who, at, what, n in events.elements()
        )

    if damaged or (unread and left(read) == left(right)):
        return "noted", ""
    wrong = list((read - right).items())[:2], list((right - read).items())[:2]
    return "misread", f"{words.sentence(found.how)} {wrong}"


@pytest.mark.parametrize("part", range(PARTS))
def test_no_export_is_misread_in_silence(part, tmp_path):
    outcomes = Counter()
    for seed in range(part * EACH, part * EACH + EACH):
        made = drawn(seed, tmp_path)
        what, why = outcome(made)
        assert what not in ("misread", "raw"), (seed, made.parts, why)
        outcomes[what] += 1
    assert outcomes["read"] > 0.65 * EACH, outcomes
    assert outcomes["refused"] < 0.3 * EACH, outcomes
