"""Tables of the reference pages that are made from registries; run this file to write them anew."""

import re
from pathlib import Path

from reidrisk import attacks

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "attacks.md"
BETWEEN = re.compile(r"(?<=<!-- registry -->\n).*?(?=<!-- end of registry -->)", re.DOTALL)


def attack_table() -> str:
    """Return the rows of the registry of attacks, those of the package; pages that were run may have added more."""
    rows = ["| name | class | compares | by default | needs |", "| --- | --- | --- | --- | --- |"]
    for entry in attacks.registry():
        if not entry.attack.__module__.startswith("reidrisk."):
            continue
        default = ("on whole records" if entry.whole else "yes") if entry.default else "no"
        kinds = ", ".join(f"`{kind.__name__}`" for kind in entry.kinds)
        needs = ", ".join(entry.needs) or "nothing"
        rows.append(f"| {entry.name} | `{entry.attack.__name__}` | {kinds} | {default} | {needs} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(BETWEEN.sub(attack_table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
