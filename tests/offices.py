"""Exports as offices make them: a loyalty programme and its partner, the same people, in any dialect."""

import csv
import gzip
import io
import zipfile
from datetime import datetime, timedelta
from functools import cache
from xml.sax.saxutils import escape

import numpy as np

LABELS = ["Tee", "Käse", "Brot & Brötchen", "Crème", "Wein", "Fisch", "Obst", "Gemüse", "Bücher", "Möbel"]
START = datetime(2024, 1, 1)


def loyalty(people=2_000, seed=0, visits=25):
    """Return the rows of two shops, (id, moment, category, price), and the true pairs of their ids."""
    rng = np.random.default_rng(seed)
    labels = [f"{LABELS[i % 10]} {i // 10 + 1}" for i in range(60)]
    popular = rng.dirichlet(np.full(60, 0.5))
    tastes = rng.dirichlet(60 * 0.15 * popular + 0.002, size=people)
    ids = {"crm": 10_000 + rng.permutation(people), "partner": rng.permutation(people)}
    shops = []
    for of in ids.values():
        often = rng.poisson(visits, people) + 1
        rows = []
        for person in range(people):
            for item in rng.choice(60, size=often[person], p=tastes[person]):
                at = START + timedelta(days=int(rng.integers(366)), minutes=int(rng.integers(480, 1200)))
                rows.append((int(of[person]), at, labels[item], round(float(rng.gamma(2.0, 9.0)), 2)))
        shops.append([rows[i] for i in rng.permutation(len(rows))])
    pairs = list(zip(ids["crm"].tolist(), ids["partner"].tolist(), strict=True))
    return shops[0], shops[1], pairs


def receipts(customers=2_382, purchases=117_248, seed=0):
    """Return a loyalty programme's export as columns, a row per purchase: four categories find about 15 in 100.

    Customers have tastes about what is popular, one or two shops, and visits of some purchases on a day.
    """
    rng = np.random.default_rng(seed)
    popular = rng.dirichlet(np.full(40, 2.0))
    tastes = np.cumsum(rng.dirichlet(40 * 0.62 * popular + 1e-3, customers), axis=1)
    often = rng.lognormal(0.0, 0.7, customers)
    who = np.concatenate([np.arange(customers), rng.choice(customers, purchases - customers, p=often / often.sum())])
    bought = (rng.random(purchases)[:, None] > tastes[who]).sum(axis=1).clip(max=39)
    visits = 1 + np.bincount(who, minlength=customers) // 3
    first = np.concatenate([[0], np.cumsum(visits)])
    visit = first[who] + rng.integers(0, visits[who])
    usual, other = (np.repeat(shop, visits) for shop in rng.integers(0, 12, (2, customers)))
    shop = np.where(rng.random(first[-1]) < 0.8, usual, other)[visit]
    order = rng.permutation(purchases)
    columns = {
        "customer": 100_000 + rng.permutation(customers)[who],
        "date": np.datetime64("2024-01-01") + rng.integers(0, 366, first[-1])[visit],
        "shop": np.char.add("shop ", (shop + 1).astype(str)),
        "article_category": np.char.add("category ", (bought + 1).astype(str)),
        "price": np.round(rng.lognormal(np.log(4.0 + bought / 7), 0.5), 2),
    }
    return {name: cells[order] for name, cells in columns.items()}


DIALECTS = {
    "plain": {},
    "german": {"delimiter": ";", "encoding": "cp1252", "end": "\r\n", "day": "%d.%m.%Y %H:%M", "comma": True},
    "american": {"encoding": "utf-8-sig", "day": "%m/%d/%Y %I:%M %p", "quote": True},
    "sixteen": {"delimiter": "\t", "encoding": "utf-16", "day": "%Y-%m-%dT%H:%M:%SZ", "ending": ".txt"},
    "packed": {"delimiter": "|", "day": "unix", "ending": ".csv.gz"},
    "columns": {
        "delimiter": " ",
        "day": "%Y%m%dT%H%M",
        "quote": True,
        "comment": "# made by the shop",
        "ending": ".dat",
    },
}


def write(path, rows, header=("customer", "date", "category", "price"), dialect="plain"):
    """Write rows in one of the dialects, by name or as its parts; ``xlsx`` is one of them."""
    if dialect == "xlsx":
        path = path.with_name(path.name + ".xlsx")
        workbook(path, header, rows)
        return path
    how = {"delimiter": ",", "encoding": "utf-8", "end": "\n", "day": "%Y-%m-%d %H:%M:%S"}
    how |= DIALECTS[dialect] if isinstance(dialect, str) else dialect
    path = path.with_name(path.name + how.get("ending", ".csv"))
    text = io.StringIO(newline="")
    if "comment" in how:
        text.write(how["comment"] + how["end"])
    quoting = csv.QUOTE_ALL if how.get("quote") else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=how["delimiter"], lineterminator=how["end"], quoting=quoting)
    writer.writerow(header)
    for who, at, what, price in rows:
        when = moment(at, how["day"])
        cost = f"{price:.2f}".replace(".", ",") if how.get("comma") else f"{price:.2f}"
        writer.writerow((who, when, what, cost))
    content = text.getvalue().encode(how["encoding"])
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path


@cache
def moment(at, form):
    """Write a moment in one form."""
    return f"{int((at - datetime(1970, 1, 1)).total_seconds())}" if form == "unix" else at.strftime(form)


def workbook(path, header, rows, before=(), after=(), merges=()):
    """Write the smallest workbook that holds a table: numbers, texts and moments; in cells that are merged, if any.

    Other sheets, each a name and its rows, lie ``before`` it, hidden, and ``after`` it.
    """
    sheets = [*((*old, 'state="hidden"') for old in before), ("Export", [header, *rows], "")]
    sheets += [(*more, "") for more in after]
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    kinds = listed = related = ""
    parts = {}
    for n, (name, lines, state) in enumerate(sheets, 1):
        cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in lines)
        ranges = "".join(f'<mergeCell ref="{ref}"/>' for ref in merges) if name == "Export" else ""
        ranges = f"<mergeCells>{ranges}</mergeCells>" if ranges else ""
        parts[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData>{ranges}</worksheet>'
        )
        kinds += f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{types}.worksheet+xml"/>'
        listed += f'<sheet name="{name}" sheetId="{n}" {state} r:id="rId{n}"/>'
        related += f'<Relationship Id="rId{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>'
    parts |= {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{types}.styles+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{related}'
        f'<Relationship Id="rId99" Type="{office}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" '
        'applyNumberFormat="1"/></cellXfs></styleSheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, datetime):
        days = (value - datetime(1899, 12, 30)).total_seconds() / 86_400
        return f'<c s="1"><v>{days!r}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
