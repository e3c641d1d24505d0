"""What people read: sentences, one model of the page, and its renderers for console, HTML and notebook."""
