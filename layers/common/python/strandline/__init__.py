"""Strandline: agent memory as serverless functions on object storage. Read `flow.py` first."""

__version__ = "0.1.0"
