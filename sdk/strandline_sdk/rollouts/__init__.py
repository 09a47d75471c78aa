"""Rollout services: who has tasks and an agent offers them (`serve`), and a trainer asks (`RolloutClient`)."""

from strandline_sdk.rollouts.client import Patience as Patience
from strandline_sdk.rollouts.client import RolloutClient as RolloutClient
from strandline_sdk.rollouts.policies import Experiences as Experiences
from strandline_sdk.rollouts.policies import Policy as Policy
from strandline_sdk.rollouts.policies import PolicySet as PolicySet
from strandline_sdk.rollouts.server import serve as serve
from strandline_sdk.rollouts.service import Attempt as Attempt
from strandline_sdk.rollouts.service import Outcome as Outcome
from strandline_sdk.rollouts.service import RolloutService as RolloutService
