"""Policies of groups: who is bound to which."""

import numpy as np
import pytest

from abmarl.rollout import evaluate
from abmarl.rollout.policies import bind_policies
from tests.support.grid_worlds import skirmish


class Bound:
    """Remembers the group that it acts for, and does nothing."""

    def bind(self, vec, group):
        self.group = group

    def __call__(self, observations, active):
        return {"attack": np.zeros(active.shape, int), "move": np.zeros((*active.shape, 2), int)}


@pytest.mark.parametrize("by_group", [False, True])
def test_one_policy_for_several_groups_is_somebody_else_for_each(by_group):
    vec = skirmish().vectorize(2, horizon=3)
    policy = Bound()
    bound = bind_policies(vec, dict.fromkeys(vec.groups, policy) if by_group else policy)
    assert {name: one.group for name, one in bound.items()} == {name: name for name in vec.groups}
    evaluate(vec, dict.fromkeys(vec.groups, policy), 4, progress=False)


def test_a_policy_of_one_group_is_bound_itself():
    vec = skirmish().vectorize(2)
    policy = Bound()
    assert bind_policies(vec, {"fighter_2": policy})["fighter_2"] is policy
