"""Exports as offices make them: any file or frame in, records out, with one line that says how it was understood."""

from reidrisk.io.exports.export import Export, read_export, read_exports
from reidrisk.io.exports.reading import Reading

__all__ = ["Export", "Reading", "read_export", "read_exports"]
