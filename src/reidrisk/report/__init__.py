"""The report a person reads: one offline HTML file, and its charts as pictures."""

from reidrisk.present.pages.cohorts import render as render_cohorts
from reidrisk.present.pages.cohorts import write as write_cohorts
from reidrisk.present.pages.release import render_internal, render_public, write_internal, write_public
from reidrisk.report import charts
from reidrisk.report.charts import save_chart
from reidrisk.report.html import render, write
from reidrisk.report.tradeoff import render_tradeoff, write_tradeoff

__all__ = [
    "charts",
    "render",
    "render_cohorts",
    "render_internal",
    "render_public",
    "render_tradeoff",
    "save_chart",
    "write",
    "write_cohorts",
    "write_internal",
    "write_public",
    "write_tradeoff",
]
