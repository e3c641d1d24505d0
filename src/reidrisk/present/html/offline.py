"""A page as HTML: safe text, the scripts that draw charts, a policy under which nothing is fetched."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reidrisk.base import printable, require
from reidrisk.io.atomic import write_text
from reidrisk.present.model import Page
from reidrisk.present.words.frequencies import capital

_TEMPLATES = Path(__file__).parent


def write(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file; an interrupted run leaves the old file or none."""
    write_text(render(page), path)


def render(page: Page) -> str:
    """Return a page as the text of one HTML file; its own security policy forbids any request to a network."""
    specs: dict[str, Any] = {}
    stills: dict[str, Any] = {}
    for name, figure in page.figures().items():
        specs[name], stills[name] = drawn_specs(figure.draw)
    return filled(specs, page=page, stills=stills, version=version("reidrisk"))


def filled(specs: dict[str, Any], **values: Any) -> str:
    """Fill in the template; text is escaped, and charts are drawn from ``specs`` by scripts that the file holds."""
    jinja2 = require("jinja2", "report", "the HTML report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kept"] = lambda text: marked(kept(text))
    environment.filters["capital"] = capital
    scripts = [_bundle(), (_TEMPLATES / "charts.js").read_text(encoding="utf-8")]
    text: str = environment.get_template("page.html").render(
        specs=marked(_json(specs)),
        style=marked((_TEMPLATES / "style.css").read_text(encoding="utf-8")),
        scripts=[marked(script) for script in scripts],
        policy=_policy(scripts),
        **values,
    )
    return text


def drawn_specs(draw: Callable[[bool], Any]) -> tuple[dict[str, Any], Any]:
    """Return a chart's specifications for a screen and for a phone, and a still picture for readers without scripts."""
    specs = {"wide": _spec(draw, False), "narrow": _spec(draw, True)}
    return specs, marked(_svg(specs["wide"]))


def still(draw: Callable[[bool], Any]) -> str:
    """Return a chart as a still picture, the text of an SVG file."""
    return _svg(_spec(draw, False))


def _spec(draw: Callable[[bool], Any], narrow: bool) -> dict[str, Any]:
    schemas = require("altair.utils.schemapi", "report", "charts")
    # Checking a chart and its parts against their schema takes longer than drawing it; the tests do that.
    with schemas.debug_mode(False):
        spec: dict[str, Any] = draw(narrow).to_dict(validate=False)
    return spec


def _svg(spec: dict[str, Any]) -> str:
    picture: str = require("vl_convert", "report", "charts").vegalite_to_svg(spec | {"width": 720})
    return picture


def marked(text: str) -> Any:
    """Return text that is HTML already and is not escaped again."""
    return require("markupsafe", "report", "the HTML report").Markup(text)


def kept(text: object) -> str:
    """Escape a text, and keep each number and its unit on one line."""
    return re.sub(
        r"((?:\d[\d.,]* to )?\d[\d.,]* (?:in \d[\d,]*\d|%))",
        r'<span class="kept">\1</span>',
        html.escape(_shown(str(text))),
    )


def _shown(value: Any) -> Any:
    """Return a text without invisible characters, which could turn what follows it around; HTML is left as it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(printable(line) for line in value.split("\n"))


@cache
def _bundle() -> str:
    """Return the scripts that draw charts, for the version of the chart language that the charts are written in."""
    altair = require("altair", "report", "the HTML report")
    convert = require("vl_convert", "report", "the HTML report")
    wanted = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    known = wanted if wanted in convert.get_vegalite_versions() else None
    bundle: str = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=known)
    return bundle.replace("\r\n", "\n").replace("</script", r"<\/script")


def _json(value: Any) -> str:
    """Write JSON that is safe between script tags."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _policy(scripts: list[str]) -> str:
    """Return a policy under which exactly these scripts run and nothing is fetched or sent."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    rest = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {rest}"
