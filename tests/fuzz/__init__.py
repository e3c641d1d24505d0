"""A structure-aware mutation fuzzer over every reader and command; `make fuzz` runs it, `make test` a part of it."""
