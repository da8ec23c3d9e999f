"""Tests of the grid world: components, single and vectorised simulations."""
