"""The main job: an AuditSpec in, an AuditResult out; the command line and the report only wrap it."""

from reidrisk.audit.assumptions import exceeds
from reidrisk.audit.result import Assumption, AuditResult, Gate, gate, strongest
from reidrisk.audit.run import audit_traces, run
from reidrisk.audit.spec import AuditSpec, InMemory, Published, Tables

__all__ = [
    "Assumption",
    "AuditResult",
    "AuditSpec",
    "Gate",
    "InMemory",
    "Published",
    "Tables",
    "audit_traces",
    "exceeds",
    "gate",
    "run",
    "strongest",
]
