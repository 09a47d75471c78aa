"""`python -m strandline_sdk.tau2`."""

import os
import sys
from pathlib import Path
from typing import Any

import click

KEY = "STRANDLINE_TAU2_KEY"
ACCESS_TOKEN = "STRANDLINE_ROLLOUT_TOKEN"  # noqa: S105 - a variable's name
# What litellm would fetch when it is imported, and tau2's log of every turn.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


@click.command()
@click.option("--model-url", required=True, help="An OpenAI-compatible endpoint.")
@click.option("--model", required=True, help="Which model is the agent.")
@click.option("--user-model", help="Which model plays the user.  [default: the agent's]")
@click.option("--spool", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=int, default=8901, show_default=True, help="0: a free one.")
@click.option(
    "--disclosure",
    type=click.Choice(["tools", "inline"]),
    default="tools",
    show_default=True,
    help="Experiences by tools that the agent calls, or put into its prompt.",
)
@click.option("--concurrency", type=click.IntRange(1), default=4, show_default=True)
def main(model_url: str, model: str, user_model: str | None, spool: Path, **where: Any) -> None:
    """Serve tau2-bench's domains as cases; prints where it is."""
    from loguru import logger

    from strandline_sdk.rollouts import RolloutService, serve
    from strandline_sdk.tau2.rollout import Models, Simulator
    from strandline_sdk.tau2.tasks import DATASET, cases

    logger.remove()
    logger.add(sys.stderr, level="ERROR")
    models = Models(model_url, model, user_model or model, os.environ.get(KEY, ""))
    service = RolloutService(
        DATASET,
        cases,
        Simulator(models, where["disclosure"]),
        spool,
        concurrency=int(str(where["concurrency"])),
    )
    token = os.environ.get(ACCESS_TOKEN)
    with serve(service, str(where["host"]), int(str(where["port"])), access_token=token) as server:
        click.echo(server.url)
        server.wait()


main()
