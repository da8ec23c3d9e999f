"""Naive twins: the rules of the grid world in plain Python, written without a look at the kernels.

They are slow and obvious. Tests compare the compiled kernels with them draw by draw, exactly.
"""
