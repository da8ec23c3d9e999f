"""Mazes: look at one, then race through a thousand of them at once.

Run it:  python examples/mazes.py
"""

import numpy as np

from abmarl.examples import multi_maze_navigation

TARGET, NAVIGATOR, WALL = 1, 2, 3


def main():
    """Print a maze, and how many of the random navigators arrive in 1,024 small ones."""
    sim = multi_maze_navigation(rows=9, cols=15, num_navigators=3)
    sim.reset(seed=4)
    print(sim.to_map({TARGET: "T", NAVIGATOR: "n", WALL: "#"}))

    vec = multi_maze_navigation(rows=5, cols=7, num_navigators=2).vectorize(1024, seed=0)
    vec.reset()
    arrivals = []
    for _ in range(200):
        _, rewards, _, _, _ = vec.step(vec.sample_actions())
        arrivals.append(np.count_nonzero(rewards["navigator"] > 0))
    print(f"{sum(arrivals):,} arrivals in 200 steps of 1,024 worlds")


if __name__ == "__main__":
    main()
