"""pygame, or an error that says how to install it."""

from typing import TYPE_CHECKING

from abmarl.extras import load

if TYPE_CHECKING:
    import pygame
else:
    pygame = load("pygame")

__all__ = ["pygame"]
