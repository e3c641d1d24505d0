"""From hosts to topics by a published list, with what the list does not cover counted and never hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.formats import text_of
from reidrisk.topics.histories.coverage import Coverage
from reidrisk.topics.host_model import HostModel
from reidrisk.topics.hosts import distinct_values, plain_host, spaced
from reidrisk.topics.taxonomy import Taxonomy

TOPICS, NO_TOPIC, UNKNOWN, NOT_A_HOST = 0, 1, 2, 3
LISTED, BY_ANCESTOR, BY_MODEL = 0, 1, 2
_TESTING = "for testing only"


class Found(NamedTuple):
    """What is known of one host: the answer, whence it came, and its tokens."""

    status: int
    source: int = LISTED
    tokens: tuple[int, ...] = ()


class Classification:
    """Topics of each given host, in the order given; made by :meth:`HostClassifier.classify`.

    Item ``i`` is a tuple of topic ids, empty for 'no topic', or ``None`` for unknown and for what is not a host.
    """

    __slots__ = ("_coverage", "_distinct", "_starts", "_status", "_taxonomy", "_tokens")

    def __init__(self, taxonomy: Taxonomy, codes: npt.NDArray[np.int64], found: Sequence[Found]) -> None:
        status = np.array([entry.status for entry in found], dtype=np.uint8)
        source = np.array([entry.source for entry in found], dtype=np.uint8)
        sizes = np.array([len(entry.tokens) for entry in found], dtype=np.int64)
        flat = np.array([token for entry in found for token in entry.tokens], dtype=np.int64)
        self._taxonomy = taxonomy
        self._status = status[codes]
        self._starts = np.concatenate([[0], np.cumsum(sizes[codes])])
        first = np.concatenate([[0], np.cumsum(sizes)])[codes]
        within = np.arange(self._starts[-1]) - np.repeat(self._starts[:-1], sizes[codes])
        self._tokens: npt.NDArray[np.int64] = flat[np.repeat(first, sizes[codes]) + within]
        for array in (self._status, self._starts, self._tokens):
            array.flags.writeable = False
        self._coverage = _coverage(self._status, source[codes])
        self._distinct = _coverage(status, source)

    @property
    def status(self) -> npt.NDArray[np.uint8]:
        """Answer for each host: 0 topics, 1 no topic, 2 unknown, 3 not a host."""
        return self._status

    @property
    def tokens(self) -> npt.NDArray[np.int64]:
        """Tokens (not ids) of all hosts in turn; those of host ``i`` lie from ``starts[i]`` to ``starts[i + 1]``."""
        return self._tokens

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where the tokens of each host begin, and a last entry where they end."""
        return self._starts

    @property
    def coverage(self) -> Coverage:
        """Coverage of all given values: of visits, when one host was given a visit."""
        return self._coverage

    @property
    def distinct(self) -> Coverage:
        """Coverage of the distinct values among them."""
        return self._distinct

    def __len__(self) -> int:
        return len(self._status)

    def __getitem__(self, i: int) -> tuple[int, ...] | None:
        row = range(len(self))[i]
        if self._status[row] >= UNKNOWN:
            return None
        return tuple(self._taxonomy.to_ids(self._tokens[self._starts[row] : self._starts[row + 1]]).tolist())

    def __iter__(self) -> Iterator[tuple[int, ...] | None]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Classification({self._coverage})"


class HostClassifier:
    """Topics of hosts, by a list (jha, Section 2, Step 1: only the host counts, nothing else of an address).

    A host is looked up by its own name, then by the names of its ancestors, nearest first, down to two labels:
    ``www.a.b.com``, ``a.b.com``, ``b.com``. The first name that is listed decides, even with an empty list. The
    names of a Chrome list have blanks for ``.``, ``-`` and ``_``, so ``a-b.com`` and ``a.b.com`` are one name to it.

    Hosts that are not listed go to a model, where one is given (:class:`HostModel`), and are **unknown** otherwise.
    Every answer carries its :class:`Coverage`.

    Parameters
    ----------
    taxonomy : Taxonomy
        The version that the ids belong to.
    topics : mapping of str to sequence of int
        Topic ids of each name; an empty sequence says that the name has no topic.
    ancestors : bool
        Without, only the host's own name counts, less a leading ``www.``.
    model : HostModel, optional
        Whom to ask about hosts that are not listed; of the same taxonomy.

    Examples
    --------
    >>> taxonomy = Taxonomy({1: "/News", 7: "/News/Weather", 4: "/Sports"})
    >>> c = HostClassifier(taxonomy, {"rain.com": [7, 1], "example.org": []})
    >>> found = c.classify(["www.rain.com", "example.org", "other.net", "rain.com"])
    >>> list(found)
    [(7, 1), (), None, (7, 1)]
    >>> found
    Classification(4 hosts: 50.0% topics, 25.0% no topic, 25.0% unknown)
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        topics: Mapping[str, Sequence[int]],
        ancestors: bool = True,
        model: HostModel | None = None,
    ) -> None:
        self._build(
            "", taxonomy, ancestors, model, [(f"the entry {name!r}", name, ids) for name, ids in topics.items()]
        )

    @classmethod
    def from_override_list(
        cls, path: PathLike, taxonomy: Taxonomy, ancestors: bool = True, model: HostModel | None = None
    ) -> HostClassifier:
        r"""Read Chrome's ``override_list.tsv``: a header ``domain<TAB>topics``, then a name and its ids a line.

        Rows whose name begins with ``for testing only`` are dropped; they may use ids that the taxonomy lacks.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "override_list.tsv"
        >>> _ = file.write_text("domain\ttopics\nfor testing only 123\t1,2,3\nrain radar com\t7,1\nno topic org\n")
        >>> c = HostClassifier.from_override_list(file, Taxonomy({1: "/News", 7: "/News/Weather"}))
        >>> len(c), list(c.classify(["rain-radar.com", "no.topic.org"]))
        (2, [(7, 1), ()])
        """
        lines, name = text_of(path, "it is no list of domains").split("\n"), str(path)
        if lines[0].rstrip("\r").split("\t") != ["domain", "topics"]:
            raise FormatError(
                f"{name}: line 1 is {lines[0][:60]!r}; the header of an override list is 'domain<TAB>topics'"
            )
        entries = []
        for number, line in enumerate(lines[1:] if lines[-1] else lines[1:-1], start=2):
            domain, _, given = line.rstrip("\r").partition("\t")
            if domain.startswith(_TESTING):
                continue
            if not re.fullmatch(r"([0-9]{1,9}(,[0-9]{1,9})*)?", given):
                raise FormatError(
                    f"{name}: line {number} has the topics {given[:60]!r}; give ids with commas between, or none"
                )
            entries.append((f"line {number}", domain, [int(topic) for topic in given.split(",")] if given else []))
        made = cls.__new__(cls)
        made._build(f"{name}: ", taxonomy, ancestors, model, entries)
        return made

    def _build(
        self,
        prefix: str,
        taxonomy: Taxonomy,
        ancestors: bool,
        model: HostModel | None,
        entries: Iterable[tuple[str, str, Sequence[int]]],
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
        """Return the topics of each host.

        Parameters
        ----------
        hosts : sequence, array or Arrow column of str
            Hosts, one a visit or one each. Capitals and one final dot do not count; names in other scripts are
            taken in their ASCII form (IDNA 2003).
        invalid : {"refuse", "count"}
            What is not a host (missing, empty, with blanks, a scheme, a path or a port, an IP address, a malformed
            name) is refused with its position, or counted as such.
        """
        if invalid not in ("refuse", "count"):
            raise OptionError(f"invalid must be 'refuse' or 'count', not {invalid!r}")
        codes, values = distinct_values(hosts)
        found: list[Found] = []
        for code, value in enumerate(values):
            host, fault = plain_host(value)
            if fault and invalid == "refuse":
                at = int(np.argmax(codes == code))
                raise DataError(
                    f"value {at} is {value!r}: {fault}; give hosts such as 'www.example.org', or count such values"
                )
            found.append(Found(NOT_A_HOST) if fault else self._look_up(host))
        return Classification(self.taxonomy, codes, found)

    def _look_up(self, host: str) -> Found:
        name, source = host, LISTED
        while True:
            tokens = self._listed.get(spaced(name))
            if tokens is not None:
                return Found(TOPICS if tokens else NO_TOPIC, source, tokens)
            first, _, rest = name.partition(".")
            if "." not in rest or not (self.ancestors or (first == "www" and source == LISTED)):
                break
            name, source = rest, BY_ANCESTOR
        if self.model is None:
            return Found(UNKNOWN)
        guessed = tuple(self.taxonomy.to_tokens(list(self.model.topics(host))).tolist())
        return Found(TOPICS if guessed else NO_TOPIC, BY_MODEL, guessed)


def _coverage(status: npt.NDArray[np.uint8], source: npt.NDArray[np.uint8]) -> Coverage:
    topics, no_topic, unknown, not_a_host = np.bincount(status, minlength=4).tolist()
    _, by_ancestor, by_model = np.bincount(source, minlength=3).tolist()
    return Coverage(len(status), topics, no_topic, unknown, not_a_host, by_ancestor, by_model)
