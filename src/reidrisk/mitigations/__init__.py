"""What would lower it: changes to released records, what they buy, and what they cost."""

from reidrisk.mitigations.base import Mitigation, View
from reidrisk.mitigations.coarsen import Coarsen
from reidrisk.mitigations.cost import Kept, kept
from reidrisk.mitigations.generalise import DropColumns, Generalise
from reidrisk.mitigations.noise import Draw, RandomItem
from reidrisk.mitigations.people import DropPeople
from reidrisk.mitigations.registry import Entry, named, register, registry
from reidrisk.mitigations.rotate import Rotate
from reidrisk.mitigations.scoring import Trial, Verdict
from reidrisk.mitigations.searching import Found, search
from reidrisk.mitigations.shorten import Shorten
from reidrisk.mitigations.suppress import SuppressRare
from reidrisk.mitigations.system import System
from reidrisk.mitigations.together import Together
from reidrisk.mitigations.trying import Refused, Tried, WhatIf, shortest, tried, usual_changes
from reidrisk.mitigations.vectors import GaussianNoise, Reduce

__all__ = ["Coarsen", "Draw", "DropColumns", "Generalise", "Kept", "Mitigation", "RandomItem", "View", "kept"]
__all__ += ["DropPeople", "Entry", "Found", "Rotate", "Shorten", "Trial", "named", "register", "registry", "search"]
__all__ += ["SuppressRare", "System", "Together", "Tried", "WhatIf", "shortest", "tried", "usual_changes"]
__all__ += ["GaussianNoise", "Reduce", "Refused", "Verdict"]
