"""Curves and tables as PNG or SVG."""
