"""Tables in files and frames: what other packages use of them."""

from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import cell, first_seen, holds_text, is_list, user_ids
from reidrisk.io.tables.formats import Table, format_of, open_table, table_of_frame
from reidrisk.io.tables.metadata import KEY, to_json
from reidrisk.io.tables.opening import check_bytes, existing_file, is_packed, reading, text_of
from reidrisk.io.tables.writing import write_batches

__all__ = [
    "KEY",
    "Table",
    "cell",
    "check_bytes",
    "existing_file",
    "first_seen",
    "format_of",
    "holds_text",
    "is_list",
    "is_packed",
    "open_table",
    "reading",
    "table_of_frame",
    "text_of",
    "to_json",
    "typed",
    "user_ids",
    "write_batches",
]
