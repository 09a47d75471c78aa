"""The committed description of the API (infra/openapi.json), and the gate that keeps it from breaking its clients."""
