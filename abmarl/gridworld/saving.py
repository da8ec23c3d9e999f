"""Saved states: whether arrays that somebody kept may be copied back into a simulation.

Everything is looked at before anything is copied. Kernels do not check where an array sends them,
so a damaged state must not get past this file.
"""

import numpy as np

from abmarl.gridworld.store import Store


def without_signature(saved: dict, store: Store) -> dict:
    """Return the arrays of a saved state.

    Raises:
        ValueError: It is of another simulation.
    """
    found = saved.get("signature") if isinstance(saved, dict) else None
    if found is None or not np.array_equal(found, store.signature):
        raise ValueError(
            "The saved state is of another simulation: grid, agents or encodings are different."
        )
    return {name: array for name, array in saved.items() if name != "signature"}


def check_arrays(arrays: dict, saved: dict) -> None:
    """Refuse saved arrays whose names, shapes and dtypes are not those of ``arrays``.

    Raises:
        ValueError: They do not match.
    """
    if saved.keys() != arrays.keys():
        raise ValueError("The saved state is of another simulation: its arrays are different ones.")
    for name, array in arrays.items():
        given = np.asarray(saved[name])
        if given.shape != array.shape or given.dtype != array.dtype:
            raise ValueError(
                f"The saved state is of another simulation: {name!r} is {given.dtype} "
                f"{given.shape}, here {array.dtype} {array.shape}."
            )


def check_worlds(store: Store, saved: dict) -> None:
    """Refuse saved arrays of a store that kernels could not work on.

    Agents must be in cells of the grid or nowhere, the lists of the cells must hold every agent
    once at most and where it is, ``top`` must show them, and random streams must not be all 0.

    Raises:
        ValueError: They are damaged.
    """
    cell, first, next_ = saved["cell"], saved["first"], saved["next_"]
    inside = store.blank == 0
    known = np.append(inside, False)[np.minimum(cell, store.padding.cells)] | (cell == 0)
    _refuse_first(~known, "cell", cell)
    for name in ("first", "next_"):
        links = saved[name]
        _refuse_first((links < -1) | (links >= store.num_agents), name, links)
    _refuse_first((first >= 0) & ~inside, "first", first)
    _check_lists(cell, first, next_)
    shown = np.where(first >= 0, store.encodings[0][first], store.blank)
    _refuse_first(saved["top"] != shown, "top", saved["top"])
    _refuse_first(saved["walls"] > 1, "walls", saved["walls"])
    for name in ("streams", "sight_streams", "sample_streams"):
        _refuse_first(~saved[name].any(axis=1, keepdims=True), name, saved[name])


def _check_lists(cell: np.ndarray, first: np.ndarray, next_: np.ndarray) -> None:
    """Walk through the lists of all cells at once."""
    b, p = np.nonzero(first >= 0)
    i = first[b, p]
    listed = np.zeros(cell.shape, bool)
    while b.size:
        wrong = np.zeros(cell.shape, bool)
        wrong[b, i] = (cell[b, i] != p) | listed[b, i]
        _refuse_first(wrong, "cell", cell)
        listed[b, i] = True
        i = next_[b, i]
        on = i >= 0
        b, p, i = b[on], p[on], i[on]


def _refuse_first(wrong: np.ndarray, name: str, array: np.ndarray) -> None:
    """Name the first entry of [B, ...] that is wrong."""
    if wrong.any():
        b, k = np.argwhere(wrong)[0]
        raise ValueError(
            f"The saved state is damaged: {name}[{b}, {k}] cannot be {array[b, k]}; "
            "load one that state_dict() returned."
        )
