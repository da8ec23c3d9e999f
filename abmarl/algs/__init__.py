"""Learning algorithms on arrays; trainers collect the experience for them."""

from abmarl.algs.monte_carlo import discounted_returns, first_visit_update, off_policy_update
from abmarl.algs.trajectories import Trajectories

__all__ = ["Trajectories", "discounted_returns", "first_visit_update", "off_policy_update"]
