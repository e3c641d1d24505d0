"""A page as one offline HTML file: nothing in it is fetched, nothing in it is about one person."""

from reidrisk.present.html.offline import render, write

__all__ = ["render", "write"]
