"""Terms: the words of the reader's own data for what the code calls user, token and epoch."""

import re
from dataclasses import dataclass

_CODE = re.compile(r"\b(user|token|epoch|representation|target|query|querie)(s?)\b")
_IRREGULAR = {"person": "people", "category": "categories", "company": "companies", "country": "countries"}


def plural(word: str, n: float = 2) -> str:
    """Return a noun as it stands after a number.

    >>> plural("week", 1), plural("week"), plural("person"), plural("category"), plural("purchase", 0)
    ('week', 'weeks', 'people', 'categories', 'purchases')
    """
    return word if n == 1 else _IRREGULAR.get(word, f"{word}s")


@dataclass(frozen=True)
class Terms:
    """What the reader calls a person, an item, a period, and a record.

    >>> terms = Terms(person="customer", item="purchase", period="week")
    >>> terms.people, terms.many("period", 8), terms.many("person", 1), terms.many("item", 1204)
    ('customers', '8 weeks', '1 customer', '1,204 purchases')
    """

    person: str = "person"
    item: str = "item"
    period: str = "period"
    record: str = "record"

    @property
    def people(self) -> str:
        """More than one person."""
        return plural(self.person)

    @property
    def items(self) -> str:
        """More than one item."""
        return plural(self.item)

    @property
    def periods(self) -> str:
        """More than one period."""
        return plural(self.period)

    @property
    def records(self) -> str:
        """More than one record."""
        return plural(self.record)

    def many(self, what: str, n: int) -> str:
        """Write a number of something, by the name of the attribute or any other word: ``many("period", 8)``."""
        return f"{n:,} {plural(getattr(self, what, what), n)}"

    def spoken(self, text: str) -> str:
        """Return a name or a description, written where nothing is known of the data, in the reader's words.

        >>> Terms(period="week", item="topic").spoken("counts epochs in which query and target show one token")
        'counts weeks in which record to identify and known record show one topic'
        """
        return _CODE.sub(self._said, text)

    def _said(self, found: re.Match[str]) -> str:
        word, n = found[1], 2 if found[2] else 1
        if word in ("query", "querie"):
            return f"{plural(self.record, n)} to identify"
        words = {"user": self.person, "token": self.item, "epoch": self.period, "representation": self.record}
        return plural(words.get(word, f"known {self.record}"), n)
