"""The service over HTTP: routes for agents and the administrator, refusals as problem documents, limits at the door."""
