"""The former place of `abmarl.terminal`."""

from abmarl.terminal import Interrupt, Terminated, deferred_interrupt, raised_termination

__all__ = ["Interrupt", "Terminated", "deferred_interrupt", "raised_termination"]
