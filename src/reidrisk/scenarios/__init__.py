"""How an attacker meets the data: what they hold, and what they want to name. Each scenario makes a Case of records."""

from reidrisk.records import Case
from reidrisk.scenarios.base import Scenario
from reidrisk.scenarios.knows import Knows
from reidrisk.scenarios.registry import Entry, register, registry
from reidrisk.scenarios.split import Split
from reidrisk.scenarios.two_tables import TwoTables

__all__ = ["Case", "Entry", "Knows", "Scenario", "Split", "TwoTables", "register", "registry"]
