"""The report a person reads: one offline HTML file, and its charts as pictures."""

from reidrisk.report import charts
from reidrisk.report.charts import save_chart
from reidrisk.report.html import render, write

__all__ = ["charts", "render", "save_chart", "write"]
