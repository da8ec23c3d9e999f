"""Scenes as pictures: on a surface of pygame, as text, in a figure of matplotlib."""
