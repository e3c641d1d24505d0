"""SortingLSH: a table that cuts the SimHash space into cohorts, as Chrome shipped it or fitted to a population."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from reidrisk.base import ArrayLike, Bools, DataError, FormatError, Ints, UInts, frozen, whole, whole_up_to
from reidrisk.cohorts.floc.simhash import BITS, domain_lists, signatures
from reidrisk.io.atomic import PathLike, is_stream, write_atomically, write_text
from reidrisk.io.tables import check_bytes, existing_file, while_reading

MIN_DOMAINS = 7  # distinct domains below which Chrome gave no cohort

_MOST_BITS = 63  # ends of cohorts go up to 2^bits, and must fit 64 bits
_FITTED = "The table of cohorts beside this file was fitted to users; do not measure their cohorts by it privately.\n"
_SIZE, _BLOCKED = 0b0111111, 0b1000000


class SortingLSH:
    """Cohorts as consecutive ranges of SimHashes, each as long as a power of two.

    Cohort ``c`` holds the SimHashes from ``sum(2**log_sizes[:c])`` up to, without, ``sum(2**log_sizes[:c + 1])``; the
    sizes add up to ``2**bits``, with 1 to 63 ``bits``. A browser keeps ``blocked`` cohorts to itself because they are
    sensitive (floc, Definition 4). Where the table was ``fitted`` to users, their cohorts are not measured privately.

    >>> table = SortingLSH([2, 1, 1], bits=3)
    >>> table, table.assign([0, 3, 4, 7]).tolist()
    (SortingLSH(3 cohorts of a 3-bit space, 0 blocked), [0, 0, 1, 2])
    """

    def __init__(
        self, log_sizes: ArrayLike, blocked: ArrayLike | None = None, bits: int = BITS, fitted: bool = False
    ) -> None:
        self.bits: Final = whole_up_to("bits", bits, _MOST_BITS)
        self.fitted: Final = bool(fitted)
        sizes = np.asarray(log_sizes)
        if sizes.ndim != 1 or not sizes.size or sizes.dtype.kind not in "iu":
            raise DataError("a table needs one whole number for each cohort, and at least one cohort")
        if sizes.min() < 0 or sizes.max() > self.bits:
            row = int(np.argmax((sizes < 0) | (sizes > self.bits)))
            raise DataError(f"cohort {row} has log2 size {sizes[row]}; it must lie in 0 to {self.bits}")
        exact = sum(1 << size for size in sizes.tolist())
        if exact != 1 << self.bits:
            sums = f"the sizes of the {sizes.size:,} cohorts add up to {exact:,}, not to 2^{self.bits}"
            raise DataError(f"{sums} = {1 << self.bits:,}; the table is truncated, or of another number of bits")
        flags = np.zeros(sizes.size, dtype=bool) if blocked is None else np.asarray(blocked)
        if flags.shape != sizes.shape or flags.dtype != bool:
            raise DataError(f"blocked must be one true or false for each of the {sizes.size:,} cohorts")
        self.log_sizes: Final = frozen(sizes.astype(np.uint8))
        self.blocked: Final[Bools] = frozen(flags.copy())
        self._ends = frozen(np.cumsum(np.uint64(1) << self.log_sizes.astype(np.uint64), dtype=np.uint64))

    @classmethod
    def from_chrome(cls, path: PathLike, bits: int = BITS) -> SortingLSH:
        """Read Chrome's table: one byte per cohort, its low 6 bits log2 of the size, bit 6 'blocked'."""
        file, name = existing_file(path), str(path)
        check_bytes(file, name)
        with while_reading(name, "a table of cohorts"):
            entries = np.frombuffer(file.read_bytes(), dtype=np.uint8)
        if not entries.size:
            raise FormatError(f"{name}: the file is empty; a table has one byte for each cohort")
        row = int(np.argmax(entries > (_SIZE | _BLOCKED)))
        if entries[row] > (_SIZE | _BLOCKED):
            raise FormatError(f"{name}: byte {row} is {entries[row]}; a cohort has 7 bits, so this is no such table")
        try:
            return cls(entries & _SIZE, (entries & _BLOCKED) > 0, bits, os.path.exists(fitted_mark(path)))
        except DataError as error:
            raise DataError(f"{name}: {error}") from error

    @classmethod
    def fit(cls, hashes: ArrayLike, min_size: int, bits: int = BITS) -> SortingLSH:
        """Build a table whose cohorts hold nobody, or at least ``min_size`` of the given users each.

        The space is halved again and again, as in Chrome's table, as long as both halves hold ``min_size`` users. Where
        all users lie in one half, the other becomes a cohort without users if that one can be cut further on. A half
        with some users but fewer than ``min_size`` cannot be cut off, nor can anything beside it: a few users far from
        the rest leave everyone in one large cohort. Leave out users with too few domains, who get no cohort.

        >>> SortingLSH.fit([0, 1, 2, 3, 4, 7], min_size=2, bits=3).log_sizes.tolist()
        [1, 1, 2]
        """
        bits = whole_up_to("bits", bits, _MOST_BITS)
        min_size = whole("min_size", min_size)
        ordered = np.sort(as_hashes(hashes, bits))
        if ordered.size < min_size:
            raise DataError(f"{ordered.size:,} users cannot fill a cohort of {min_size:,}; lower min_size")
        low = np.zeros(1, dtype=np.uint64)
        first, last = np.zeros(1, dtype=np.int64), np.array([ordered.size])
        found: list[tuple[UInts, Ints]] = []
        for log_size in range(bits, -1, -1):
            half = np.uint64(1 << (log_size - 1)) if log_size else np.uint64(0)
            middle = np.searchsorted(ordered, low + half)
            split = _can_be_cut(ordered, first, last, min_size)
            found.append((low[~split], np.full(int((~split).sum()), log_size)))
            low, first, middle, last = low[split], first[split], middle[split], last[split]
            low = np.concatenate([low, low + half])
            first, last = np.concatenate([first, middle]), np.concatenate([middle, last])
        starts, sizes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return cls(sizes[np.argsort(starts)], bits=bits, fitted=True)

    def __len__(self) -> int:
        return self.log_sizes.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortingLSH) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[int, bytes, bytes]:
        return self.bits, self.log_sizes.tobytes(), self.blocked.tobytes()

    def __repr__(self) -> str:
        return f"SortingLSH({len(self):,} cohorts of a {self.bits}-bit space, {self.blocked.sum():,} blocked)"

    def assign(self, hashes: ArrayLike) -> Ints:
        """Return the cohort of each SimHash, blocked or not."""
        return np.searchsorted(self._ends, as_hashes(hashes, self.bits), side="right").astype(np.int64)

    def cohort(self, domains: Any, min_domains: int = MIN_DOMAINS, shown: bool = False) -> int | Ints:
        """Return the cohort of each user's domains (as for :func:`simhash`), -1 for fewer than ``min_domains`` of them.

        With ``shown`` it is what a site was shown: -1 for blocked cohorts too.
        """
        min_domains = whole("min_domains", min_domains, least=0)
        lists = domain_lists(domains)
        hashes, counts = signatures(lists, self.bits)
        cohorts = np.where(counts >= min_domains, self.assign(hashes), -1)
        if shown:
            cohorts[(cohorts >= 0) & self.blocked[cohorts]] = -1
        return int(cohorts[0]) if lists.single else cohorts

    def with_blocked(self, cohorts: Iterable[int]) -> SortingLSH:
        """Return the same table with these cohorts blocked and no others."""
        named = set(cohorts)
        if unknown := sorted(named - set(range(len(self)))):
            raise DataError(f"cohort {unknown[0]} is unknown; the table has cohorts 0 to {len(self) - 1:,}")
        return SortingLSH(self.log_sizes, np.isin(np.arange(len(self)), list(named)), self.bits, self.fitted)

    def write(self, path: PathLike) -> None:
        """Write Chrome's file; a fitted one says so in ``FILE.fitted`` beside it, where :meth:`from_chrome` looks."""
        mark = fitted_mark(path)
        if self.fitted and not is_stream(path):  # the mark first: at no moment is there a fitted table without it
            write_text(_FITTED, mark)
        with write_atomically(path) as temporary:
            temporary.write_bytes((self.log_sizes | np.where(self.blocked, _BLOCKED, 0).astype(np.uint8)).tobytes())
        if not self.fitted:
            mark.unlink(missing_ok=True)


def fitted_mark(path: PathLike) -> Path:
    """Return the file that marks the table beside it as fitted to users."""
    return Path(f"{path}.fitted")


def _can_be_cut(ordered: UInts, first: Ints, last: Ints, min_size: int) -> Bools:
    """Tell which ranges of users can be cut: the first cut that has users on both sides leaves enough on each."""
    cut = last - first >= 2 * min_size
    lowest, highest = ordered[first[cut]], ordered[last[cut] - 1]
    # The highest bit in which two users differ: below it, the highest user's half begins.
    differ = lowest ^ highest
    for shift in (1, 2, 4, 8, 16, 32):
        differ |= differ >> np.uint64(shift)
    middle = np.searchsorted(ordered, highest & ~(differ >> np.uint64(1)))
    cut[cut] = (differ > 0) & (middle - first[cut] >= min_size) & (last[cut] - middle >= min_size)
    return cut


def as_hashes(hashes: ArrayLike, bits: int) -> UInts:
    """Return SimHashes as ``uint64``, or name the first that does not fit the bits."""
    given = np.asarray(hashes)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise DataError("hashes must be one whole number for each user, as simhash gives them")
    wrong = (given < 0) | (given > (1 << bits) - 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"the hash {given[row]} of user {row} is not of {bits} bits; give the same bits as to simhash")
    return given.astype(np.uint64)
