"""ProfileBayes on bags: how much each record holds is given, and only what it holds is evidence."""

from reidrisk.attacks.profile.sized.habits import Habits
from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import STEPS, KnownBags
from reidrisk.attacks.profile.sized.softness import SoftDot
from reidrisk.attacks.profile.sized.tally import Tally

__all__ = ["STEPS", "Habits", "KnownBags", "Model", "SoftDot", "Tally"]
