"""`ports.Ids` from the system's randomness, read at every call: a frozen and cloned sandbox does not repeat itself."""

import os


class RandomIds:
    def new(self) -> str:
        return os.urandom(16).hex()

    def fraction(self) -> float:
        # 53 bits: what a float's mantissa holds
        return (int.from_bytes(os.urandom(7), "big") >> 3) / (1 << 53)
