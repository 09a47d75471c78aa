"""Sessions and memory of Google's Agent Development Kit.

    sessions, memory = StrandlineSessionService(client), StrandlineMemoryService(client)
    runner = Runner(app_name="shop", agent=agent, session_service=sessions, memory_service=memory)

Each user of each app is a user of Strandline of its own, `adk!<app>!<user>`, so none meets another's sessions or
memories; the client's key must be an admin's or a root key. A session is a session, an event a message: what it says as
text and tool parts, and the whole of it as metadata. The state of a session is what its events have made of it; that of
a user and of an app is a page of their memories. `temp:` state is never sent.

Events are only ever added behind others, so who appends to a session that has moved on loses nothing and overwrites
nothing; its own copy shows what it had and what it said, `get_session` shows everything.
"""

from strandline_sdk.frameworks.adk.memory import StrandlineMemoryService as StrandlineMemoryService
from strandline_sdk.frameworks.adk.sessions import StrandlineSessionService as StrandlineSessionService
