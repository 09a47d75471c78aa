"""`python -m infra.restore --stack NAME`: makes again what is derived from a deployment's bucket.

Run with an operator's AWS credentials, after the table or an index was lost. Prints what it found. May be repeated.
"""

import argparse
import json
import os
from typing import Any

import boto3


def main() -> None:
    """Reads the stack's outputs, or takes bucket and table as they are given."""
    parser = argparse.ArgumentParser(prog="python -m infra.restore", description=__doc__)
    parser.add_argument("--stack", help="The CloudFormation stack whose bucket and table are meant.")
    parser.add_argument("--bucket", help="The bucket, instead of a stack.")
    parser.add_argument("--table", help="The table, instead of a stack.")
    parser.add_argument("--prefix", default="v1/", help="Only below this prefix: v1/<account>/<user>/.")
    chosen = parser.parse_args()
    if bool(chosen.stack) == bool(chosen.bucket and chosen.table):
        parser.error("give --stack, or both --bucket and --table")
    named = _outputs(chosen.stack) if chosen.stack else {}
    os.environ["STRANDLINE_BUCKET"] = chosen.bucket or named["MemoryBucketName"]
    os.environ["STRANDLINE_TABLE"] = chosen.table or named["StateTableName"]
    # after the environment is set, since the service reads it once
    from strandline.entry.wiring import library
    from strandline.pipeline.restore import run_restore

    print(json.dumps(dict(run_restore(library(), chosen.prefix))))


def _outputs(stack: str) -> dict[str, Any]:
    (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in found["Outputs"]}


if __name__ == "__main__":
    main()
