"""Audit two tables that are already in memory, hold the result to a limit, and save it."""

import json
from pathlib import Path

from reidrisk import populations, topics
from reidrisk.audit import AuditSpec, Published, audit_traces, gate

people = populations.published(1_000, epochs=4, seed=1)
api = topics.TopicsAPI(n_topics=people.n_tokens)
known, released = (api.expose(people, seed=1, site=site) for site in ("known", "released"))

spec = AuditSpec(inputs=Published(users=1_000, epochs=4), system="topics", seed=1, epochs=(4,))
result = audit_traces(known, released, spec, top_sets=people)

print(result.verdict)
for assumption in result.assumptions:
    print(f"- {assumption.holds} {assumption.otherwise}")
print(gate(result, max_risk=0.5).reading)
Path("result.json").write_text(json.dumps(result.to_dict(), indent=2))
