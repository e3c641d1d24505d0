"""Sections: one function each, from a result and the reader's terms to what a page shows of it, or nothing."""
