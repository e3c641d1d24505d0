"""Old names of the pages; they work for one version, with a warning, and are in :mod:`reidrisk.present` now."""

from reidrisk.base.moved import moved

__getattr__ = moved(
    "reidrisk.report",
    {
        "charts": "reidrisk.present:chart",
        "save_chart": "reidrisk.present",
        **dict.fromkeys(("render", "render_cohorts", "render_internal", "render_public"), "reidrisk.present:render"),
        **dict.fromkeys(("write", "write_cohorts", "write_internal", "write_public"), "reidrisk.present:write"),
        "render_tradeoff": "reidrisk.present:render",
        "write_tradeoff": "reidrisk.present:write",
    },
)
