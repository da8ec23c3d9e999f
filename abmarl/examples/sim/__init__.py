"""Simulations without a grid world's components: plain implementations of the interface."""
