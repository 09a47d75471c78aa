"""The command `strandline`: import conversations, search, read memories, look at sessions and tasks."""

from strandline_sdk.cli.app import main as main
