"""The user's side of Strandline: a typed client, importers of conversation files, the command line."""

from strandline_sdk.client import Client as Client
from strandline_sdk.errors import ApiError as ApiError
from strandline_sdk.transport import Retry as Retry
