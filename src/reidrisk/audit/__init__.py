"""The main job: an AuditSpec in, an AuditResult out; the command line and the report only wrap it."""

from reidrisk.audit.asking import audit_exports, audit_scenarios
from reidrisk.audit.assess import assess
from reidrisk.audit.assumptions import exceeds
from reidrisk.audit.case import audit_case, together
from reidrisk.audit.comparison import AuditDifference, compare
from reidrisk.audit.ends import strongest
from reidrisk.audit.fingerprints import Fingerprints, differing, fingerprints, read_key
from reidrisk.audit.further import Further
from reidrisk.audit.gate import Gate, gate
from reidrisk.audit.per_person import PerPerson
from reidrisk.audit.plan import NotRun
from reidrisk.audit.probability_check import ProbabilityCheck, ThresholdCheck
from reidrisk.audit.questions import Asked
from reidrisk.audit.result import Assumption, AuditResult, Timing
from reidrisk.audit.run import audit_traces, run
from reidrisk.audit.schema import result_schema
from reidrisk.audit.spec import AuditSpec, Exports, InMemory, Published, Tables
from reidrisk.audit.truth_doubt import TruthDoubt
from reidrisk.base.moved import moved

__all__ = ["assess", "audit_case", "audit_exports", "audit_scenarios", "exceeds", "together"]
__all__ += ["AuditDifference", "Fingerprints", "Further", "compare", "differing", "fingerprints", "read_key"]
__all__ += ["Asked", "Gate", "NotRun", "PerPerson", "ProbabilityCheck", "ThresholdCheck", "gate"]
__all__ += ["Assumption", "AuditResult", "Timing", "audit_traces", "result_schema", "run", "strongest"]
__all__ += ["AuditSpec", "Exports", "InMemory", "Published", "Tables", "TruthDoubt"]

__getattr__ = moved(__name__)
