"""Benchmarks: what things cost, and ratios that guard against their becoming slower.

Absolute times differ from machine to machine. What is compared with a stored number is therefore
the ratio of two times taken in one run, see ``check.py``.
"""
