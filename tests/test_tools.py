"""Tools under the names that existing simulations import."""

import matplotlib
import numpy as np
import pytest
from gymnasium import spaces

from abmarl.tools.gym_utils import check_space, make_dict
from abmarl.tools.matplotlib_utils import mscatter
from abmarl.tools.numpy_utils import array_in_array


def test_spaces():
    nested = {"a": spaces.Discrete(2), "b": {"c": spaces.MultiBinary(3)}}
    assert check_space(nested)
    assert not check_space({"a": spaces.Discrete(2), "b": {"c": 3}})
    made = make_dict(nested)
    assert made == spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Dict(nested["b"])})
    assert make_dict(made) is made
    with pytest.raises(TypeError, match="must be a space or a dict of spaces"):
        make_dict(3)


def test_array_in_array():
    rows = [np.array([1, 2]), np.array([3, 4, 5])]
    assert array_in_array(np.array([3, 4, 5]), rows)
    assert not array_in_array(np.array([3, 4]), rows)
    assert not array_in_array(np.array([2, 1]), rows)


def test_every_point_has_its_marker():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    try:
        drawn = mscatter([0, 1, 2], [0, 1, 2], ax=axes, m=["o", "s", "^"], s=200, c="red")
        assert len({len(path.vertices) for path in drawn.get_paths()}) > 1
        assert len(drawn.get_paths()) == 3
        assert len(mscatter([0, 1], [1, 0], ax=axes).get_paths()) == 1
        with pytest.raises(ValueError, match="a marker for each of the 3 points, got 2"):
            mscatter([0, 1, 2], [0, 1, 2], ax=axes, m=["o", "s"])
    finally:
        plt.close(figure)
