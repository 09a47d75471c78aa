"""Benchmarks that anybody can run against a service of his own."""
