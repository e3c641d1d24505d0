"""From hosts to topics by a published list, with what the list does not cover counted and never hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from reidrisk.base import Bytes, DataError, FormatError, Ints, OptionError, frozen, one_of
from reidrisk.base.hosts import distinct_values, plain_host, spaced
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables import text_of
from reidrisk.topics.host_model import HostModel
from reidrisk.topics.taxonomy import Taxonomy

TOPICS, NO_TOPIC, UNKNOWN, NOT_A_HOST = 0, 1, 2, 3
LISTED, BY_ANCESTOR, BY_MODEL = 0, 1, 2
_TESTING = "for testing only"
Ids = Sequence[int]
_Entry = tuple[str, str, Ids]  # where it was found, domain, topics


class HostTopics(NamedTuple):
    """What is known of one host: the answer, whence it came, and its tokens."""

    status: int
    source: int = LISTED
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """How many of the given hosts the list speaks of; the four counts add up to ``n``.

    >>> Coverage(n=4, topics=1, no_topic=1, unknown=2, not_a_host=0, by_ancestor=1).shares
    {'topics': 0.25, 'no topic': 0.25, 'unknown': 0.5, 'not a host': 0.0}
    """

    n: int
    topics: int  # listed with at least one topic
    no_topic: int  # listed with an empty list: known to have no topic
    unknown: int  # not listed, nor any ancestor
    not_a_host: int  # counted only with invalid="count"; refused otherwise
    by_ancestor: int  # of the listed: those found only by the name of an ancestor, as mail.a.com by a.com
    by_model: int = 0  # of those with topics or known to have none: not listed, so that a model was asked

    @property
    def shares(self) -> dict[str, float]:
        """Share of each answer among the ``n``; all zero when nothing was given."""
        counts = (self.topics, self.no_topic, self.unknown, self.not_a_host)
        names = ("topics", "no topic", "unknown", "not a host")
        return {name: count / max(self.n, 1) for name, count in zip(names, counts, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """Return counts and shares for JSON."""
        return {**asdict(self), "shares": self.shares}

    def __str__(self) -> str:
        parts = [f"{share:.1%} {name}" for name, share in self.shares.items() if name != "not a host" or share]
        guessed = f" ({self.by_model / self.n:.1%} by the model)" if self.by_model else ""
        return f"{self.n:,} hosts: {', '.join(parts)}{guessed}"


@dataclass(frozen=True, eq=False, repr=False)
class Classification:
    """Topics of each given host, in the order given; made by :meth:`HostClassifier.classify`.

    Item ``i`` is a tuple of topic ids, empty for 'no topic', or ``None`` for unknown and for what is not a host.
    """

    taxonomy: Taxonomy
    status: Bytes  # answer for each host: 0 topics, 1 no topic, 2 unknown, 3 not a host
    tokens: Ints  # (not ids) of all hosts in turn; those of host i lie from starts[i] to starts[i + 1]
    starts: Ints
    coverage: Coverage  # coverage of all given values: of visits, when one host was given per visit
    distinct: Coverage  # coverage of the distinct values among them

    @classmethod
    def of(cls, taxonomy: Taxonomy, codes: Ints, found: Sequence[HostTopics]) -> Classification:
        """Spread what was found of the distinct values over all of them."""
        status = np.array([entry.status for entry in found], dtype=np.uint8)
        source = np.array([entry.source for entry in found], dtype=np.uint8)
        sizes = np.array([len(entry.tokens) for entry in found], dtype=np.int64)
        flat = np.array([token for entry in found for token in entry.tokens], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes[codes])])
        first = np.concatenate([[0], np.cumsum(sizes)])[codes]
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes[codes])
        listed, tokens, starts = map(frozen, (status[codes], flat[np.repeat(first, sizes[codes]) + within], starts))
        return cls(taxonomy, listed, tokens, starts, _coverage(listed, source[codes]), _coverage(status, source))

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, i: int) -> tuple[int, ...] | None:
        row = range(len(self))[i]
        if self.status[row] >= UNKNOWN:
            return None
        return tuple(self.taxonomy.to_ids(self.tokens[self.starts[row] : self.starts[row + 1]]).tolist())

    def __iter__(self) -> Iterator[tuple[int, ...] | None]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Classification({self.coverage})"


class HostClassifier:
    """Topics of hosts, by a list (jha, Section 2, Step 1: only the host counts, nothing else of an address).

    A host is looked up by its own name, then by the names of its ancestors, nearest first, down to two labels:
    ``www.a.b.com``, ``a.b.com``, ``b.com``. The first name that is listed decides, even with an empty list: it then has
    no topic. The names of a Chrome list have blanks for ``.``, ``-`` and ``_``, so ``a-b.com`` and ``a.b.com`` are one
    name to it. Without ``ancestors`` only the host's own name counts, less a leading ``www.``. Hosts that are not
    listed go to a model, where one is given (:class:`HostModel`), and are **unknown** otherwise.

    >>> taxonomy = Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports"})
    >>> c = HostClassifier(taxonomy, {"rain.com": [7, 1], "example.org": []})
    >>> found = c.classify(["www.rain.com", "example.org", "other.net", "rain.com"])
    >>> list(found), found
    ([(7, 1), (), None, (7, 1)], Classification(4 hosts: 50.0% topics, 25.0% no topic, 25.0% unknown))
    """

    def __init__(
        self, taxonomy: Taxonomy, topics: Mapping[str, Ids], ancestors: bool = True, model: HostModel | None = None
    ) -> None:
        entries = [(f"the entry {name!r}", name, ids) for name, ids in topics.items()]
        self._build("", taxonomy, ancestors, model, entries)

    @classmethod
    def from_override_list(
        cls, path: PathLike, taxonomy: Taxonomy, ancestors: bool = True, model: HostModel | None = None
    ) -> HostClassifier:
        """Read Chrome's ``override_list.tsv``: a header ``domain<TAB>topics``, then a name and its ids per line.

        Rows whose name begins with ``for testing only`` are dropped; they may use ids that the taxonomy lacks.
        """
        lines, name = text_of(path, "it is no list of domains").split("\n"), str(path)
        if lines[0].rstrip("\r").split("\t") != ["domain", "topics"]:
            header = "the header of an override list is 'domain<TAB>topics'"
            raise FormatError(f"{name}: line 1 is {lines[0][:60]!r}; {header}")
        entries: list[_Entry] = []
        for number, line in enumerate(lines[1:] if lines[-1] else lines[1:-1], start=2):
            domain, _, given = line.rstrip("\r").partition("\t")
            if domain.startswith(_TESTING):
                continue
            if not re.fullmatch(r"([0-9]{1,9}(,[0-9]{1,9})*)?", given):
                raise FormatError(f"{name}: line {number} has the topics {given[:60]!r}; give ids with commas, or none")
            entries.append((f"line {number}", domain, [int(topic) for topic in given.split(",")] if given else []))
        made = cls.__new__(cls)
        made._build(f"{name}: ", taxonomy, ancestors, model, entries)
        return made

    def _build(
        self, prefix: str, taxonomy: Taxonomy, ancestors: bool, model: HostModel | None, entries: list[_Entry]
    ) -> None:
        if model is not None and model.taxonomy != taxonomy:
            raise OptionError("the model is of another taxonomy than the list; give both the same version")
        self.taxonomy, self.ancestors, self.model = taxonomy, bool(ancestors), model
        self._listed: dict[str, tuple[int, ...]] = {}
        for where, name, ids in entries:
            self._add(f"{prefix}{where}", name, ids)
        if not self._listed:
            raise DataError(f"{prefix}there is no domain in the list; give at least one")

    def _add(self, where: str, name: str, ids: Sequence[int]) -> None:
        key = spaced(name)
        if not re.fullmatch(r"[a-z0-9]+( +[a-z0-9]+)+", key):
            raise DataError(f"{where} has the domain {name[:60]!r}; give lower-case letters, digits and dots or blanks")
        if key in self._listed:
            raise DataError(f"{where} has the domain {name!r} again; '.', '-', '_' and blanks are the same to the list")
        if len(set(ids)) != len(ids):
            raise DataError(f"{where} names a topic twice: {list(ids)}")
        try:
            tokens = self.taxonomy.to_tokens([self.taxonomy.checked(topic) for topic in ids])
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        self._listed[key] = tuple(tokens.tolist())

    def __len__(self) -> int:
        return len(self._listed)

    def __repr__(self) -> str:
        empty = sum(not tokens for tokens in self._listed.values())
        return f"HostClassifier({len(self):,} domains, {empty:,} of them without a topic; {self.taxonomy!r})"

    def classify(self, hosts: Any, invalid: Literal["refuse", "count"] = "refuse") -> Classification:
        """Return the topics of each host, given as a sequence, an array or an Arrow column of text.

        Capitals and one final dot do not count; names in other scripts are taken in their ASCII form (IDNA 2003). What
        is not a host (missing, empty, with blanks, a scheme, a path or a port, an IP address, a malformed name) is
        refused with its position, or counted as such.
        """
        one_of("invalid", invalid, ("refuse", "count"))
        codes, values = distinct_values(hosts)
        found: list[HostTopics] = []
        for code, value in enumerate(values):
            host, fault = plain_host(value)
            if fault and invalid == "refuse":
                wrong = f"value {int(np.argmax(codes == code))} is {value!r}: {fault}"
                raise DataError(f"{wrong}; give hosts such as 'www.example.org', or count such values")
            found.append(HostTopics(NOT_A_HOST) if fault else self._look_up(host))
        return Classification.of(self.taxonomy, codes, found)

    def _look_up(self, host: str) -> HostTopics:
        name, source = host, LISTED
        while True:
            tokens = self._listed.get(spaced(name))
            if tokens is not None:
                return HostTopics(TOPICS if tokens else NO_TOPIC, source, tokens)
            first, _, rest = name.partition(".")
            if "." not in rest or not (self.ancestors or (first == "www" and source == LISTED)):
                break
            name, source = rest, BY_ANCESTOR
        if self.model is None:
            return HostTopics(UNKNOWN)
        guessed = tuple(self.taxonomy.to_tokens(list(self.model.topics(host))).tolist())
        return HostTopics(TOPICS if guessed else NO_TOPIC, BY_MODEL, guessed)


def _coverage(status: Bytes, source: Bytes) -> Coverage:
    topics, no_topic, unknown, not_a_host = np.bincount(status, minlength=4).tolist()
    _, by_ancestor, by_model = np.bincount(source, minlength=3).tolist()
    return Coverage(len(status), topics, no_topic, unknown, not_a_host, by_ancestor, by_model)
