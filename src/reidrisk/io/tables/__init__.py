"""Tables in files and frames: what other packages use of them."""

from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import cell, holds_text, is_list, number_matrix, user_ids
from reidrisk.io.tables.csv_files import read_cells
from reidrisk.io.tables.formats import OpenTable, format_of, open_table, table_of_frame
from reidrisk.io.tables.metadata import KEY, to_json
from reidrisk.io.tables.opening import check_bytes, existing_file, is_packed, opened, text_of, while_reading
from reidrisk.io.tables.writing import write_batches

__all__ = ["cell", "holds_text", "is_list", "number_matrix", "read_cells", "typed", "user_ids"]
__all__ += ["KEY", "OpenTable", "format_of", "open_table", "table_of_frame", "to_json"]
__all__ += ["check_bytes", "existing_file", "is_packed", "opened", "text_of", "while_reading", "write_batches"]
