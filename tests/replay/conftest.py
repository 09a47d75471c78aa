"""moto looks up its routes once, and the SDK does not wait."""

from tests.sim.moto.conftest import quick

__all__ = ["quick"]
