"""The numbers and switches of a JSON body, taken for what they are: `true` is no number, nor is one in quotes, and a 1
is no switch. By itself pydantic takes one for the other."""

from typing import Annotated

from pydantic import Field

Whole = Annotated[int, Field(strict=True)]
Real = Annotated[float, Field(strict=True)]
Switched = Annotated[bool, Field(strict=True)]
