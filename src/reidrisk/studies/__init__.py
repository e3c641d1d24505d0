"""Each published table and figure, run again, beside the published numbers."""

from reidrisk.studies.registry import STUDIES, find, run
from reidrisk.studies.study import Comparison, Study, StudyResult
from reidrisk.studies.writing import need_charts, write

__all__ = ["STUDIES", "Comparison", "Study", "StudyResult", "find", "need_charts", "run", "write"]
