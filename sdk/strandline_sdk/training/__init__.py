"""Offline training: rollouts of cases, learning from them, and a gate on held-out cases before anything is served."""
