"""The OpenAPI 3.1 description, made from the code when somebody asks for it.

Paths, parameters and bodies come from Powertools, results and errors from what is declared beside the routes
(entry/answers.py), words from the docstrings. What Powertools says of answers is not true here (its own 422, its own
error shapes, no envelope), so it is replaced. `infra/openapi.json` is the committed snapshot.
"""

from strandline.entry.openapi.document import describe as describe
from strandline.entry.openapi.document import text as text
from strandline.entry.openapi.routes import routes_of as routes_of
