"""The table of kernels: every one with its naive twin and how to run both on a ``Case``.

``Entry.engine(case)`` runs the kernel once over all worlds of the case, through the component that
owns it, and returns what it found per world; ``Entry.twin(case, b)`` does the same in plain Python
for world b. Both change the state of the case's worlds, which the tests compare as well.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from abmarl.gridworld import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    ActiveDone,
    AmmoObserver,
    CrossMoveActor,
    DriftMoveActor,
    HealthState,
    MazePlacementState,
    MoveActor,
    MovingAgent,
    OneTeamRemainingDone,
    PositionCenteredEncodingObserver,
    PositionState,
    StackedPositionCenteredEncodingObserver,
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetBarriersFreePlacementState,
    TargetEncodingInactiveDone,
    TeamObserver,
)
from abmarl.kernels import messages as message_kernels
from abmarl.kernels import turns as turns_kernels
from tests.kernels import attack_table as attacks
from tests.kernels.worlds import known
from tests.naive import action_masks, messages
from tests.naive import done as dones
from tests.naive import move as move_twins
from tests.naive import observation as twins
from tests.naive.episode import reset_health
from tests.naive.placement import NoCellLeft, reset_positions
from tests.naive.target_placement import reset_around_target


@dataclass(frozen=True)
class Entry:
    """One way to run a kernel.

    Attributes:
        kernel: ``module.function`` within ``abmarl.kernels``.
        variant: What is special about this way.
        engine: Function of a case that returns a list with an entry per world.
        twin: Function of (case, world) that returns such an entry.
        suits: Function of a scenario: whether this entry can run on it.
    """

    kernel: str
    variant: str
    engine: Callable
    twin: Callable
    suits: Callable = lambda scenario: True

    def __str__(self):
        return f"{self.kernel}[{self.variant}]" if self.variant else self.kernel


# --- agents and masks


def has(ability):
    """Whether some agent of a scenario has an ability."""
    return lambda scenario: any(getattr(one, ability) is not None for one in scenario.world.agents)


def able(case, ability):
    """The numbers of the agents with an ability."""
    agents = case.scenario.world.agents
    return [i for i, one in enumerate(agents) if getattr(one, ability) is not None]


def masks(case, actor, shapes):
    """The action masks per world, {number: nested lists}."""
    rows, size = case.rows_of({i: int(np.prod(shape)) for i, shape in shapes.items()})
    flat = np.zeros(size, bool)
    actor.masks(flat, np.array(list(shapes), np.int64), rows)
    return [
        {i: case.entries(flat, rows, i, b, shape) for i, shape in shapes.items()}
        for b in range(case.num_worlds)
    ]


def attack_entry(kernel, name):
    return Entry(
        kernel, name, attacks.run_attacks(name), attacks.naive_attacks(name), attacks.suits(name)
    )


def attack_mask_entry(kernel, name):
    engine = attacks.run_masks(masks, name)
    return Entry(kernel, name, engine, attacks.naive_masks(name), attacks.suits(name))


# --- movement


def run_moves(case, actor, actions):
    actor.weights[0] = -0.1
    moved = actor.process(np.tile(actions, (case.num_worlds, *[1] * actions.ndim)))
    return [[moved[b].tolist(), case.store.rewards[b].tolist()] for b in range(case.num_worlds)]


def run_box_moves(case):
    actions = np.array([case.actions[i]["move"] for i in able(case, "move_range")], int)
    return run_moves(case, case.component(MoveActor), far_moves(case, actions))


def far_moves(case, actions):
    """Moves of agents with a far range are stretched, so that they leave the padding."""
    ranges = [case.scenario.world.agents[i].move_range for i in able(case, "move_range")]
    return actions * np.maximum(1, np.array(ranges) // 5)[:, None]


def cross_action(case, i):
    dr, dc = case.actions[i]["move"]
    return (2 * dr + dc) % 5


def run_cross_moves(case):
    actions = np.array([cross_action(case, i) for i in able(case, "move_range")])
    return run_moves(case, case.component(CrossMoveActor), actions)


def naive_moves(case, b, move, action):
    world = case.naive[b]
    moved, rewards = [-1] * len(world.agents), [0.0] * len(world.agents)
    for i in able(case, "move_range"):
        if world.agents[i].active:
            moved[i] = int(move(world, i, action(i)))
            if not moved[i]:
                rewards[i] -= 0.1
    return [moved, rewards]


def naive_box_moves(case, b):
    movers = able(case, "move_range")
    actions = far_moves(case, np.array([case.actions[i]["move"] for i in movers], int))
    steps = dict(zip(movers, actions.tolist(), strict=True))
    return naive_moves(case, b, move_twins.move, steps.get)


def naive_cross_moves(case, b):
    return naive_moves(case, b, move_twins.cross_move, lambda i: cross_action(case, i))


class EveryoneDriftsActor(DriftMoveActor):
    """All that move have an orientation, which the case gives them."""

    def supports(self, agent):
        return isinstance(agent, MovingAgent)


def orientations(case):
    """Some look nowhere yet."""
    return [(case.scenario.seed + 3 * i) % 5 for i in range(len(case.scenario.world.agents))]


def run_drifts(case):
    actor = case.component(EveryoneDriftsActor)
    case.store.orientation[:] = orientations(case)
    actions = np.array([cross_action(case, i) for i in able(case, "move_range")])
    found = run_moves(case, actor, actions)
    return [[*one, case.store.orientation[b].tolist()] for b, one in enumerate(found)]


def naive_drifts(case, b):
    looks = orientations(case)

    def move(world, i, action):
        moved, looks[i] = move_twins.drift_move(world, i, action, looks[i])
        return moved

    return [*naive_moves(case, b, move, lambda i: cross_action(case, i)), looks]


def run_move_masks(kind):
    def run(case):
        actor = case.component(kind)
        return masks(case, actor, {i: actor.mask_shape(i) for i in able(case, "move_range")})

    return run


def naive_move_masks(mask):
    return lambda case, b: {i: mask(case.naive[b], i) for i in able(case, "move_range")}


# --- windows


def window_shape(case, i, *layers):
    side = 2 * case.scenario.world.agents[i].view_range + 1
    return (side, side, *layers)


def show(case, observer, shapes):
    """Three looks: at the state, after every second agent has fallen, and once more."""
    rows, size = case.rows_of({i: int(np.prod(shape)) for i, shape in shapes.items()})
    flat = np.full(size, 99, observer.dtype)
    worlds, looks = np.arange(case.num_worlds), []
    for look in range(3):
        if look == 1:
            for part in case.parts:
                for i in falling(case):
                    if part.active[0, i]:
                        part.leave(i)
                        part.active[0, i] = False
        observer.write(worlds, flat, rows, False)
        looks.append(flat.copy())
    return [
        [{i: case.entries(flat, rows, i, b, s) for i, s in shapes.items()} for flat in looks]
        for b in range(case.num_worlds)
    ]


def falling(case):
    return range(0, len(case.scenario.world.agents), 2)


def naive_show(case, b, look_at, *layers, null=None):
    world = case.naive[b]
    # At the start of an episode everybody counts as seen.
    looks, last_active = [], [True] * len(world.agents)
    for look in range(3):
        if look == 1:
            for i in falling(case):
                if world.agents[i].active:
                    world.remove(i)
                    world.agents[i].active = False
        found = {}
        active = [agent.active for agent in world.agents]
        for i in able(case, "view_range"):
            if active[i] or last_active[i]:
                found[i] = look_at(world, i)
            elif null is not None:
                found[i] = null(i)
            else:
                found[i] = np.full(window_shape(case, i, *layers), twins.MASKED).tolist()
        last_active = active
        looks.append(found)
    return looks


def run_encoding_windows(case):
    observer = case.component(
        PositionCenteredEncodingObserver, observe_self=case.scenario.observe_self
    )
    return show(case, observer, {i: window_shape(case, i) for i in able(case, "view_range")})


def naive_encoding_windows(case, b):
    stream, itself = case.naive_streams[b][1], case.scenario.observe_self
    return naive_show(case, b, lambda world, i: twins.encoding_window(world, stream, i, itself))


def run_team_windows(case):
    observer = case.component(TeamObserver)
    return show(case, observer, {i: window_shape(case, i) for i in able(case, "view_range")})


def naive_team_windows(case, b):
    stream = case.naive_streams[b][1]
    return naive_show(case, b, lambda world, i: twins.team_window(world, stream, i))


def run_counts(case):
    layers = case.scenario.max_encoding
    observer = case.component(StackedPositionCenteredEncodingObserver)
    shapes = {i: window_shape(case, i, layers) for i in able(case, "view_range")}
    return show(case, observer, shapes)


def naive_counts(case, b):
    layers = case.scenario.max_encoding
    return naive_show(case, b, lambda world, i: twins.stacked_window(world, i, layers), layers)


def few_layers(scenario):
    encodings = [agent.encoding for agent in scenario.world.agents]
    return has("view_range")(scenario) and min(encodings) > 0 and max(encodings) < 20


def run_grids(case):
    shape = case.grid.rows, case.grid.cols
    observer = case.component(AbsoluteEncodingObserver)
    return show(case, observer, dict.fromkeys(able(case, "view_range"), shape))


def naive_grids(case, b):
    stream, world = case.naive_streams[b][1], case.scenario.world
    null = np.full((world.rows, world.cols), twins.MASKED).tolist()
    return naive_show(
        case,
        b,
        lambda world, i: twins.grid_of_encodings(world, stream, i),
        null=lambda i: null,
    )


def run_positions(case):
    observer = case.component(AbsolutePositionObserver)
    return show(case, observer, dict.fromkeys(able(case, "view_range"), (2,)))


def naive_positions(case, b):
    return naive_show(
        case, b, lambda world, i: list(world.agents[i].position), null=lambda i: [0, 0]
    )


def observing_ammo(scenario):
    return any(one.ammo is not None and one.view_range is not None for one in scenario.world.agents)


def run_ammo(case):
    # More than at the start is shown as that much.
    case.store.ammo[:, ::2] += 1
    observer = case.component(AmmoObserver)
    viewers = [i for i in able(case, "view_range") if observer.form(i) is not None]
    found = show(case, observer, dict.fromkeys(viewers, ()))
    case.store.ammo[:, ::2] -= 1
    return found


def naive_ammo(case, b):
    looks = naive_show(case, b, lambda world, i: world.agents[i].ammo, null=lambda i: 0)
    ammo = [agent.ammo for agent in case.naive[b].agents]
    return [{i: one for i, one in look.items() if ammo[i] is not None} for look in looks]


# --- placement


def run_placement(case):
    return start_worlds(case, PositionState)


def start_worlds(case, kind, **parameters):
    """Places the agents; per world the agent that has found no place, or None."""
    scenario = case.scenario
    state = case.component(
        kind,
        no_overlap_at_reset=scenario.no_overlap_at_reset,
        randomize_placement_order=scenario.randomize_placement_order,
        **parameters,
    )
    for i, agent in enumerate(case.agents.values()):
        case.store.set_start(i, agent.initial_position)
    failures = []
    for b in range(case.num_worlds):
        # World by world: the message names the first agent of the first world that fails.
        before = case.naive_state(b)
        try:
            state.start(np.array([b]))
            failures.append(None)
        except ValueError as error:
            failures.append(str(error).split("'")[1])
            restore(case, b, before)
    return failures


def restore(case, b, before):
    """After a failure nothing is said about the state: both sides get an empty grid."""
    case.store.clear(np.array([b]))


def naive_placement(case, b):
    return naive_start(case, b, reset_positions)


def naive_start(case, b, reset, **parameters):
    scenario, world = case.scenario, case.naive[b]
    try:
        reset(
            world,
            case.naive_streams[b][0],
            no_overlap_at_reset=scenario.no_overlap_at_reset,
            randomize_placement_order=scenario.randomize_placement_order,
            **parameters,
        )
    except NoCellLeft as error:
        world.clear()
        for agent in world.agents:
            agent.position = tuple(case.store.padding.unravel(0))
        return f"agent{error.agent}"


def roles(case):
    """The number of the target, and the encodings of barriers and free agents."""
    scenario = case.scenario
    kinds = sorted({agent.encoding for agent in scenario.world.agents})
    first = scenario.seed % 2
    target = scenario.seed % len(scenario.world.agents)
    return target, set(kinds[first::2]), set(kinds[1 - first :: 2])


def run_around_target(kind):
    def run(case):
        target, barriers, free = roles(case)
        return start_worlds(
            case,
            kind,
            target_agent=f"agent{target}",
            barrier_encodings=barriers,
            free_encodings=free,
            cluster_barriers=case.scenario.stacked_attacks,
            scatter_free_agents=case.scenario.observe_self,
        )

    return run


class SparingState(MazePlacementState):
    """A maze in which barriers that find no wall stay off the grid."""

    spares_barriers = True


def naive_around_target(in_maze, spares_barriers=False):
    def run(case, b):
        target, barriers, _ = roles(case)
        return naive_start(
            case,
            b,
            reset_around_target,
            target=target,
            barrier_encodings=barriers,
            cluster_barriers=case.scenario.stacked_attacks,
            scatter_free_agents=case.scenario.observe_self,
            in_maze=in_maze,
            spares_barriers=spares_barriers,
        )

    return run


def run_health(case):
    case.component(HealthState).start(np.arange(case.num_worlds)[::-1].copy())
    return [None] * case.num_worlds


def naive_health(case, b):
    reset_health(case.naive[b], case.naive_streams[b][0])


# --- dones


def run_done(kind, parameters):
    def run(case):
        done = case.component(kind, **parameters(case))
        agents, worlds = done.done().copy(), done.all_done().copy()
        return [[agents[b].tolist(), bool(worlds[b])] for b in range(case.num_worlds)]

    return run


def naive_done(kind, parameters):
    def run(case, b):
        done, world = kind(**parameters(case)), case.naive[b]
        numbers = range(len(world.agents))
        return [[done.done(world, i) for i in numbers], done.all_done(world)]

    return run


def ignored(case):
    return {"ignore_encodings": set(case.scenario.encodings[1::2])}


def targets(one):
    def parameters(case):
        mapping = known(case.scenario, case.scenario.attack_mapping)
        return {"target_mapping": mapping, "sim_ends_if_one_done": one}

    return parameters


def pairs(case):
    """Two of three agents are after another one, or after themselves."""
    count = len(case.scenario.world.agents)
    return {i: (i * i + case.scenario.seed) % count for i in range(count) if i % 3 != 1}


def named_pairs(case):
    return {"target_mapping": {f"agent{i}": f"agent{j}" for i, j in pairs(case).items()}}


def has_targets(scenario):
    return bool(known(scenario, scenario.attack_mapping))


# --- turns


def run_turns(random):
    def run(case):
        store = case.store
        turns = np.zeros((case.num_worlds, store.num_agents), store.next_.dtype)
        count = np.zeros(case.num_worlds, np.int64)
        turns_kernels.take_turns(store.active, store.active, random, store.streams, turns, count)
        return [turns[b, : count[b]].tolist() for b in range(case.num_worlds)]

    return run


def naive_turns(random):
    def run(case, b):
        order = [i for i, agent in enumerate(case.naive[b].agents) if agent.active]
        if random:
            case.naive_streams[b][0].shuffle(order)
        return order

    return run


def run_shuffle(case):
    found = []
    for part in case.parts:
        turns = np.array([able(case, "move_range")], case.store.next_.dtype)
        turns_kernels.shuffle_turns(part.streams, turns, turns.shape[1])
        found.append(turns[0].tolist())
    return found


def naive_shuffle(case, b):
    order = able(case, "move_range")
    case.naive_streams[b][0].shuffle(order)
    return order


# --- occupancy


def run_clear(case):
    case.store.clear(np.arange(1, case.num_worlds))
    return [None] * case.num_worlds


def naive_clear(case, b):
    if b == 0:
        return
    world = case.naive[b]
    world.clear()
    for agent in world.agents:
        agent.position = tuple(case.store.padding.unravel(0))


def all_cells(case):
    world = case.scenario.world
    return [(r, c) for r in range(world.rows) for c in range(world.cols)]


def run_may_enter(case):
    ravel, agents = case.store.padding.ravel, range(case.store.num_agents)
    return [
        [bool(part.may_enter(i, ravel(*cell))) for i in agents for cell in all_cells(case)]
        for part in case.parts
    ]


def naive_may_enter(case, b):
    world = case.naive[b]
    return [
        all(world.may_overlap(i, other) for other in world.cells[cell])
        for i in range(len(world.agents))
        for cell in all_cells(case)
    ]


def run_leave_and_enter(case):
    """Active agents swap lists: all leave, then enter again in reverse, where they may."""
    for part in case.parts:
        active = np.flatnonzero(part.active[0])
        cells = part.cell[0, active].tolist()
        for i in active:
            part.leave(i)
        for i, p in zip(active[::-1], cells, strict=True):
            if part.may_enter(i, p):
                part.enter(i, p)
            else:
                part.active[0, i] = False
    return [None] * case.num_worlds


def naive_leave_and_enter(case, b):
    world = case.naive[b]
    active = [i for i, agent in enumerate(world.agents) if agent.active]
    cells = [world.agents[i].position for i in active]
    for i in active:
        world.remove(i)
    for i, cell in zip(active[::-1], cells, strict=True):
        if not world.place(i, cell):
            world.agents[i].active = False


def gone(case):
    """Every third agent, whether or not it is active."""
    return [(i + case.scenario.seed) % 3 == 0 for i in range(len(case.scenario.world.agents))]


def run_remove(case):
    case.store.remove(np.tile(np.array(gone(case)), (case.num_worlds, 1)))
    return [None] * case.num_worlds


def naive_remove(case, b):
    world = case.naive[b]
    for i, agent in enumerate(world.agents):
        if gone(case)[i] and agent.active:
            world.remove(i)
            agent.active = False


# --- messages


def run_deal(case):
    speakers = np.array(able(case, "view_range"))
    message = np.full((case.num_worlds, case.store.num_agents), 0.5)
    worlds = np.arange(case.num_worlds)[::-1].copy()
    message_kernels.deal_messages(worlds, speakers, case.store.streams, message)
    return message.tolist()


def naive_deal(case, b):
    message, speakers = [0.5] * len(case.scenario.world.agents), able(case, "view_range")
    dealt = messages.deal(case.naive_streams[b][0], len(speakers))
    for i, one in zip(speakers, dealt, strict=True):
        message[i] = one
    return message


def run_share(case):
    """Twice: what was heard is passed on."""
    store = case.store
    speakers = np.array(able(case, "view_range"))
    message = np.tile(np.arange(store.num_agents) / 7, (case.num_worlds, 1))
    told = np.zeros(len(speakers))
    for _ in range(2):
        message_kernels.share_messages(store.world, speakers, told, message)
    return message.tolist()


def naive_share(case, b):
    message = [i / 7 for i in range(len(case.scenario.world.agents))]
    speakers = able(case, "view_range")
    for _ in range(2):
        told = messages.share(case.naive[b], speakers, [message[i] for i in speakers])
        for i, one in zip(speakers, told, strict=True):
            message[i] = one
    return message


def plain(case):
    return {}


TABLE = [
    attack_entry("attack.attack_agents", "binary"),
    attack_entry("attack.attack_aimed", "encodings"),
    attack_entry("attack.attack_aimed", "cells"),
    attack_entry("attack.attack_aimed", "listed"),
    attack_mask_entry("attack.possible_targets", "binary"),
    attack_mask_entry("attack.possible_targets", "encodings"),
    attack_mask_entry("attack.possible_cells", "cells"),
    attack_mask_entry("attack.possible_cells", "listed"),
    Entry("move.move_agents", "box", run_box_moves, naive_box_moves, has("move_range")),
    Entry("move.move_agents", "cross", run_cross_moves, naive_cross_moves, has("move_range")),
    Entry("move.drift_agents", "", run_drifts, naive_drifts, has("move_range")),
    Entry(
        "move.possible_moves", "box", run_move_masks(MoveActor),
        naive_move_masks(action_masks.move_mask), has("move_range"),
    ),
    Entry(
        "move.possible_moves", "cross", run_move_masks(CrossMoveActor),
        naive_move_masks(action_masks.cross_move_mask), has("move_range"),
    ),
    Entry(
        "observation.label_windows", "encodings", run_encoding_windows, naive_encoding_windows,
        has("view_range"),
    ),
    Entry(
        "observation.label_windows", "teams", run_team_windows, naive_team_windows,
        has("view_range"),
    ),
    Entry("observation.count_windows", "", run_counts, naive_counts, few_layers),
    Entry("observation.label_grids", "", run_grids, naive_grids, has("view_range")),
    Entry("observation.show_positions", "", run_positions, naive_positions, has("view_range")),
    Entry("observation.show_counts", "", run_ammo, naive_ammo, observing_ammo),
    Entry("placement.place_agents", "", run_placement, naive_placement),
    Entry("episode.reset_health", "", run_health, naive_health),
    Entry(
        "placement.place_around_target", "open",
        run_around_target(TargetBarriersFreePlacementState), naive_around_target(False),
    ),
    Entry(
        "placement.place_around_target", "maze", run_around_target(MazePlacementState),
        naive_around_target(True),
    ),
    Entry(
        "placement.place_around_target", "sparing", run_around_target(SparingState),
        naive_around_target(True, True),
    ),
    Entry(
        "done.not_active", "", run_done(ActiveDone, plain), naive_done(dones.ActiveDone, plain)
    ),
    Entry(
        "done.none_active", "", run_done(ActiveDone, plain), naive_done(dones.ActiveDone, plain)
    ),
    Entry(
        "done.one_team_left", "", run_done(OneTeamRemainingDone, ignored),
        naive_done(dones.OneTeamRemainingDone, ignored),
    ),
    Entry(
        "done.targets_inactive", "one", run_done(TargetEncodingInactiveDone, targets(True)),
        naive_done(dones.TargetEncodingInactiveDone, targets(True)), has_targets,
    ),
    Entry(
        "done.targets_inactive", "all", run_done(TargetEncodingInactiveDone, targets(False)),
        naive_done(dones.TargetEncodingInactiveDone, targets(False)), has_targets,
    ),
    Entry(
        "done.targets_reached", "", run_done(TargetAgentOverlapDone, named_pairs),
        naive_done(dones.TargetAgentOverlapDone, lambda case: {"target_mapping": pairs(case)}),
    ),
    Entry(
        "done.targets_gone", "", run_done(TargetAgentInactiveDone, named_pairs),
        naive_done(dones.TargetAgentInactiveDone, lambda case: {"target_mapping": pairs(case)}),
    ),
    Entry("turns.take_turns", "fixed", run_turns(False), naive_turns(False)),
    Entry("turns.take_turns", "random", run_turns(True), naive_turns(True)),
    Entry("turns.shuffle_turns", "", run_shuffle, naive_shuffle, has("move_range")),
    Entry("world.clear_worlds", "", run_clear, naive_clear),
    Entry("world.may_enter", "", run_may_enter, naive_may_enter),
    Entry("world.enter_cell", "", run_leave_and_enter, naive_leave_and_enter),
    Entry("world.remove_agents", "", run_remove, naive_remove),
    Entry("messages.deal_messages", "", run_deal, naive_deal, has("view_range")),
    Entry("messages.share_messages", "", run_share, naive_share, has("view_range")),
    Entry("world.leave_cell", "", run_leave_and_enter, naive_leave_and_enter),
]  # fmt: skip
