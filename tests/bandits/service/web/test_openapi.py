"""The OpenAPI document, tried by schemathesis: no request fails the service or contradicts the document."""

import pytest
import scenes
from hypothesis import HealthCheck, given, settings

schemathesis = pytest.importorskip("schemathesis")

MANY = 6
OPERATIONS = [
    ("/health", "get"),
    ("/metrics", "get"),
    ("/v1/about", "get"),
    ("/v1/agents", "post"),
    ("/v1/agents/{agent}/token", "post"),
    ("/v1/agents/{agent}/token", "delete"),
    ("/v1/agents/{agent}/record", "get"),
    ("/v1/agents/{agent}/record", "put"),
    ("/v1/agents/{agent}/record", "delete"),
    ("/v1/matrix", "post"),
    ("/admin/codes", "post"),
    ("/admin/agents/{agent}", "delete"),
    ("/admin/overview", "get"),
    ("/admin/membership", "get"),
    ("/admin/rebuild", "post"),
    ("/admin/ledger", "get"),
]


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    made = scenes.Scene(f"sqlite:///{tmp_path_factory.mktemp('api') / 'x.db'}", updates_per_day=0, profiles_per_day=0)
    one = made.join(4)[0]
    made.rebuild()
    yield schemathesis.openapi.from_asgi("/openapi.json", made.app), made, one
    made.close()


def test_the_list_is_complete(api):
    described = api[0].raw_schema["paths"]
    assert sorted((path, method) for path, methods in described.items() for method in methods) == sorted(OPERATIONS)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_an_operation_keeps_to_its_document(api, path, method):
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    schema, made, one = api
    # What adds up, and how many numbers there are, no schema says: such requests are refused with 422.
    numbers = method == "put" or path == "/v1/matrix"
    headers = made.admin if path.startswith(("/admin", "/metrics")) else one.headers

    @settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(schema[path][method].as_strategy())
    def tried(case):
        # An agent's own id in every other request: others are refused before anything is looked at.
        agent = (case.path_parameters or {}).get("agent")
        if agent is not None and path.startswith("/v1") and len(str(agent)) % 2 and not path.endswith("/token"):
            case.path_parameters["agent"] = one.agent
        case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance] if numbers else [])

    tried()


@pytest.mark.stress
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_an_operation_keeps_to_its_document_many_times(api, path, method, monkeypatch):
    monkeypatch.setattr(f"{__name__}.MANY", 200)
    test_an_operation_keeps_to_its_document(api, path, method)
