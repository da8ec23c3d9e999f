"""Rollouts in the window of a viewer, forwards and backwards, and films of them."""
