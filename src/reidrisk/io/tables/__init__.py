"""Tables as files hold them: formats, layouts, columns, cells, codes."""
