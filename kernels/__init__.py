"""Array kernels of the grid world.

The modules here know arrays and numbers, nothing of agents, spaces or simulations. The first axis
of every state array is the world. A *rule* is a function for one agent or one cell that kernels
call; a *kernel* runs over all worlds it is given and is what Python calls. Kernels allocate
nothing and check nothing: their callers own the arrays and have validated the numbers.
"""
