"""What the service costs, as counts and ratios: `python -m tests.perf` writes docs/BENCHMARKS.md.

Never part of the test suite: nothing here passes or fails.
"""
