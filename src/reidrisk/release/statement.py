"""The privacy statement of a release; it lives in :mod:`reidrisk.privacy`, where cohorts use it too."""

from reidrisk.privacy.statement import NEIGHBOURS, PUBLISHED, UNIT, PrivacyStatement

__all__ = ["NEIGHBOURS", "PUBLISHED", "UNIT", "PrivacyStatement"]
