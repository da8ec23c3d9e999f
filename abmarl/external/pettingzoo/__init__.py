"""PettingZoo: simulations as parallel and as agent-by-agent environments."""

from abmarl.external.pettingzoo.aec import PettingZooAECWrapper
from abmarl.external.pettingzoo.parallel import PettingZooParallelWrapper

__all__ = ["PettingZooAECWrapper", "PettingZooParallelWrapper"]
