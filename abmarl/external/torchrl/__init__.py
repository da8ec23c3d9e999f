"""TorchRL: vectorised simulations as its batched environments."""

from abmarl.external.torchrl.environment import TorchRLEnv

__all__ = ["TorchRLEnv"]
