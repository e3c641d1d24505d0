"""Record linkage by how well two rows of attributes agree, column by column."""
