"""The plain simulations, without the components of a grid world.

The grid worlds are in ``abmarl.examples``; ``abmarl.examples.sim.<name>`` leads to them as well.
"""
