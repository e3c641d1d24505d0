"""A service in this process: made-up agents join it, share, fetch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from reidrisk.bandits.service.credentials import digest
from reidrisk.bandits.service.spec import ServiceSpec
from reidrisk.bandits.service.storage.database import Database
from reidrisk.bandits.service.web.app import create_app

ADMINISTRATOR = "administrator's token of a test"
STATES = 4


@dataclass
class Joined:
    agent: str
    token: str
    matrix: Any = None
    profile: Any = None

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def record(self):
        return f"/v1/agents/{self.agent}/record"


class Scene:
    """A service, its client, and who joined; it rebuilds only when told to."""

    def __init__(self, url, **options):
        self.database = Database(url)
        self.database.upgrade()
        options = {"strategy": "microaggregation:3", "minimum_group": 3, "requests_per_minute": 0, **options}
        self.app = create_app(ServiceSpec(rebuild_every=10_000, **options), self.database, digest(ADMINISTRATOR))
        self.http = TestClient(self.app, raise_server_exceptions=False)
        self.http.__enter__()
        self.publisher = self.app.state.service.publisher
        self.admin = {"Authorization": f"Bearer {ADMINISTRATOR}"}
        self.lots = np.random.default_rng(5)

    def close(self):
        self.http.__exit__(None, None, None)
        self.database.close()

    def join(self, count=1, share=True):
        codes = self.http.post("/admin/codes", json={"count": count}, headers=self.admin).json()["codes"]
        found = [Joined(**self.http.post("/v1/agents", json={"code": code}).json()) for code in codes]
        for one in found if share else []:
            self.share(one)
        return found

    def share(self, one, matrix=None, profile=None, **headers):
        one.matrix = self.lots.dirichlet(np.ones(STATES), STATES) if matrix is None else np.asarray(matrix)
        one.profile = list(self.lots.normal(size=2)) if profile is None else profile
        body = {"matrix": one.matrix.tolist(), "profile": one.profile}
        return self.http.put(one.record, json=body, headers={**one.headers, **headers})

    def fetch(self, one, profile):
        return self.http.post("/v1/matrix", json={"profile": profile}, headers=one.headers)

    def rebuild(self):
        return self.publisher.rebuild()

    def everything(self):
        """Return every row of every table, to see whether anything changed."""
        from sqlalchemy import select

        from reidrisk.bandits.service.storage.schema import metadata

        with self.database.reading() as connection:
            return {t.name: connection.execute(select(t)).all() for t in metadata.sorted_tables}
