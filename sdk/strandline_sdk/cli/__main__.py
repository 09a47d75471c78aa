"""`python -m strandline_sdk.cli` is `strandline`."""

from strandline_sdk.cli import main

main()
