"""How large a network may become that is built from the settings of a checkpoint."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

# What a network may have beyond its weights: parts that are made and dropped again.
_MORE_ENTRIES, _MORE_ARRAYS = 1_000_000, 64


class RoomOfWeights(TorchFunctionMode):
    """Within this context, layers are made only as far as there are weights for them.

    A few bytes of settings can ask for layers that fill the memory, or take hours to initialise.
    Layers of torch make their arrays by ``torch.empty``.

    Args:
        weights: What the network is to be given.

    Raises:
        RuntimeError: On the way, when there are more or larger layers.
    """

    def __init__(self, weights: Mapping[str, Any]) -> None:
        super().__init__()
        tensors = [one for one in weights.values() if isinstance(one, torch.Tensor)]
        # By their memory: the shape of a tensor may repeat a single number.
        stored = {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors}
        least = min((one.element_size() for one in tensors), default=1)
        self._entries = _MORE_ENTRIES + sum(one.nbytes() for one in stored.values()) // least
        self._arrays = _MORE_ARRAYS + 2 * len(tensors)

    def __torch_function__(
        self, function: Any, types: Any, arguments: tuple = (), named: dict | None = None
    ) -> Any:
        """Call the function, unless it makes an array for which there is no room."""
        if function is torch.empty:
            size = named["size"] if named and "size" in named else arguments
            size = size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size
            self._arrays -= 1
            self._entries -= math.prod(one for one in size if isinstance(one, int))
            if self._arrays < 0 or self._entries < 0:
                raise RuntimeError("its settings ask for more or larger layers than it has")
        return function(*arguments, **(named or {}))
