"""Why a section could not be measured."""


class Skipped(Exception):
    """What it needs is not here."""
