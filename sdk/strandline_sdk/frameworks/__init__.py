"""Adapters of agent frameworks: `openai_agents`, `strands`, `langgraph`, `adk`. Each needs its framework's package, and
none is imported unless it is asked for."""
