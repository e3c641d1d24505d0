from pathlib import Path

import pytest


@pytest.fixture
def pair(table) -> tuple[Path, Path]:
    """Two four-row tables: two people agree with themselves, two have changed places."""
    a = table("a.csv", "user,epoch_0,epoch_1\nann,news,sports\nbob,news,music\ncat,cars,music\ndan,food,food\n")
    b = table("b.csv", "user,epoch_0,epoch_1\nann,news,sports\nbob,cars,music\ncat,news,music\ndan,food,food\n")
    return a, b


@pytest.fixture
def crowd(pair, table) -> tuple[Path, Path]:
    """Sixty people, fifteen times four with tokens of their own, two of whom changed: enough to decide a gate."""
    made = []
    for path in pair:
        # People who change places would make a truth that is in doubt.
        head, *rows = (
            path.read_text().replace("bob,cars,music", "bob,rain,snow").replace("cat,news", "cat,hail").splitlines()
        )
        many = [",".join(f"{cell}{i}" for cell in row.split(",")) for i in range(15) for row in rows]
        made.append(table(f"crowd-{path.name}", "\n".join([head, *many]) + "\n"))
    return made[0], made[1]
