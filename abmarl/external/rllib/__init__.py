"""RLlib: simulations as its environments, and training at the speed of the engine.

`MultiAgentWrapper` makes a ``MultiAgentEnv`` of a manager, `multi_agent_to_abmarl` is the way
back. `batched` puts a `BatchedEnvRunner` into an ``AlgorithmConfig``, which keeps whole batches of
worlds as arrays.
"""

from abmarl.extras import load

load("ray.rllib", "rllib", "abmarl.external.rllib")

from abmarl.external.rllib.batched import batched  # noqa: E402
from abmarl.external.rllib.columns import ColumnBatch, ColumnsToTrainBatch  # noqa: E402
from abmarl.external.rllib.env_runner import BatchedEnvRunner  # noqa: E402
from abmarl.external.rllib.multi_agent_env import (  # noqa: E402
    MultiAgentWrapper,
    multi_agent_to_abmarl,
)

__all__ = [
    "BatchedEnvRunner",
    "ColumnBatch",
    "ColumnsToTrainBatch",
    "MultiAgentWrapper",
    "batched",
    "multi_agent_to_abmarl",
]
