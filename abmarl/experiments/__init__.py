"""Experiments: files that say what is trained how, run on RLlib, and what came of them.

What the commands ``abmarl train``, ``debug``, ``visualize``, ``analyze`` and ``make-runnable`` do.
Ray is imported when something is trained or loaded, not before.
"""
