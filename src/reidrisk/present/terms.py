"""Terms: the words of the reader's own data for what the code calls user, token and epoch."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CODE = re.compile(r"\b(user|token|epoch|representation|target|query|querie)(s?)\b")
_IRREGULAR = {"person": "people", "child": "children", "diagnosis": "diagnoses"}
_PART = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")

_BOUGHT = {"product", "shop", "category"}  # what customers buy, or buy in: an item of such a record is a purchase


def plural(word: str, n: float = 2) -> str:
    """Return a noun as it stands after a number.

    >>> plural("week", 1), plural("week"), plural("person"), plural("category"), plural("purchase", 0), plural("search")
    ('week', 'weeks', 'people', 'categories', 'purchases', 'searches')
    """
    if n == 1:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


@dataclass(frozen=True)
class Terms:
    """What the reader calls a person, an item, a period, and a record; purchases are of a ``thing``, such as products.

    >>> terms = Terms(person="customer", item="purchase", period="week")
    >>> terms.people, terms.many("period", 8), terms.many("person", 1), terms.many("item", 1204)
    ('customers', '8 weeks', '1 customer', '1,204 purchases')
    """

    person: str = "person"
    item: str = "item"
    period: str = "period"
    record: str = "record"
    thing: str = ""
    axis: str = "epochs"
    """What an attacker is given more and more of: periods, or items, facts or columns, which ``period`` names then."""
    whole: int = 0  # the number of items that stands for records as long as they are; 0 where there is none
    columns: tuple[str, ...] = ()  # what the periods are called, where they are columns

    @property
    def kind(self) -> str:
        """What there are different ones of: a product, where items are purchases."""
        return self.thing or self.item

    @property
    def things(self) -> str:
        """More than one kind."""
        return plural(self.kind)

    @property
    def a_person(self) -> str:
        """One of the people, whoever it is.

        >>> Terms(person="employee").a_person, Terms(person="customer").a_person, Terms(person="user").a_person
        ('an employee', 'a customer', 'a user')
        """
        return f"{'an' if self.person[:1].lower() in 'aeio' else 'a'} {self.person}"

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
        if what == "period" and n == self.whole > 0:
            return f"whole {self.records}"
        return f"{n:,} {plural(getattr(self, what, what), n)}"

    def at(self, n: int) -> str:
        """Say how much an attacker has: ``at 8 weeks``, ``with 4 purchases``, ``with whole records``."""
        return f"{'at' if self.axis == 'epochs' else 'with'} {self.many('period', n)}"

    def count(self, n: int) -> str:
        """Write a number of periods for a table or an axis, where the heading names them."""
        return "all" if n == self.whole > 0 else f"{n:,}"

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


def terms_of_columns(user: str | None, items: Sequence[str] = (), place: bool = False) -> Terms:
    """Choose words by the names of the columns that say who, and what.

    >>> shop = terms_of_columns("CustomerID", ["StockCode"])
    >>> shop.person, shop.item, shop.things
    ('customer', 'purchase', 'products')
    >>> terms_of_columns("user_id", ["venueCategory"]).item, terms_of_columns("userID", ["artistID"]).items
    ('place', 'artists')
    >>> terms_of_columns("Kundennummer", ["Warengruppe"]).item, terms_of_columns(None, place=True).item
    ('purchase', 'place')
    """
    nouns = _nouns()
    person = next((nouns["person"][part] for part in _parts(user or "") if part in nouns["person"]), "person")
    words = [part for name in items for part in _parts(name)]
    named = [nouns["item"][part] for part in words if part in nouns["item"]]
    if place and not named:
        named = ["place"]
    buys = person in ("customer", "client")
    bought = "product" in named or "purchase" in words or (buys and (not named or named[0] in _BOUGHT))
    item = "purchase" if bought else named[0] if named else "item"
    thing = named[-1] if named else "product" if bought else ""
    return Terms(person=person, item=item, thing="" if thing == item else thing)


@cache
def _nouns() -> dict[str, dict[str, str]]:
    """Return what a page calls a person, and an item, by words of column names."""
    lists = tomllib.loads(Path(__file__).with_name("nouns.toml").read_text("utf-8"))
    return {kind: {word: noun for noun, words in nouns.items() for word in words} for kind, nouns in lists.items()}


def _parts(name: str) -> list[str]:
    """Return the words of a column's name, in lower case and without a plural s."""
    found = (part.lower() for part in _PART.findall(name))
    return [part[:-1] if part.endswith("s") and not part.endswith(("ss", "is", "us")) else part for part in found]
