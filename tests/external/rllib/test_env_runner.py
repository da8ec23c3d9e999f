"""The batched env runner: what it records, and what becomes of it."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from abmarl.examples import shipped
from abmarl.external.rllib import BatchedEnvRunner, ColumnBatch, ColumnsToTrainBatch, batched
from abmarl.external.rllib.episodes import Chunks
from abmarl.external.rllib.worlds import MAX_JOINT_ACTIONS, StockEnv
from abmarl.sim.wrappers import SuperAgentWrapper
from tests.support.grid_worlds import corridor, skirmish, strike

HORIZON = 7


def small(sim=skirmish, **kwargs):
    """A config of a small network over a few worlds."""
    config = (
        PPOConfig()
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=60, minibatch_size=20, num_epochs=1)
        .rl_module(model_config={"fcnet_hiddens": [8]})
        .debugging(seed=3)
    )
    return batched(config, sim, **{"num_envs": 4, "horizon": HORIZON, **kwargs})


@pytest.fixture
def runner():
    return BatchedEnvRunner(config=small(masks=False))


def roll(runner, steps):
    """A rollout from the start: rows, log, and the episodes made of them."""
    runner._begin()
    rows, log, _ = runner._collect(steps * runner.num_envs, None, True, False)
    return rows, log, runner._builder.build(rows, log)


def replayed(runner, log, episodes):
    """The same episodes as RLlib records them, from single worlds that are given the actions."""
    recorded = {episode.id_: episode for episode in episodes}
    found = {}
    for world, ids in enumerate(ids_by_world(log)):
        env = StockEnv(runner.config.env_config)
        for number, key in enumerate(ids):
            obs, infos = env.reset(seed=(3, world)) if number == 0 else env.reset()
            made = MultiAgentEpisode(
                key,
                observation_space=env.observation_spaces,
                action_space=env.action_spaces,
                agent_to_module_mapping_fn=runner.config.policy_mapping_fn,
            )
            made.add_env_reset(observations=obs, infos=infos)
            given = recorded[key]
            for step in range(len(given)):
                actions = given.get_actions(step)
                outputs = {
                    agent_id: {
                        name: buffer[len(made.agent_episodes[agent_id])]
                        for name, buffer in given.agent_episodes[
                            agent_id
                        ].extra_model_outputs.items()
                    }
                    for agent_id in actions
                }
                obs, rewards, terminateds, truncateds, infos = env.step(actions)
                made.add_env_step(
                    obs,
                    actions,
                    rewards,
                    infos,
                    terminateds=terminateds,
                    truncateds=truncateds,
                    extra_model_outputs=outputs,
                )
            assert made.is_done == given.is_done
            found[key] = made.to_numpy()
    return [found[episode.id_] for episode in episodes]


def ids_by_world(log):
    """The episodes of each world in the order of time, without those that have no step yet."""
    found = [[key] for key in log.ids]
    for step, world, following in log.ends:
        if step + 1 < log.num_steps:
            found[world].append(following)
    return found


def test_episodes_are_those_that_rllib_would_record(runner):
    _, log, episodes = roll(runner, 40)
    stock = replayed(runner, log, episodes)
    assert {len(one) for one in episodes} > {HORIZON}
    assert any(one.is_truncated for one in episodes)
    assert any(one.is_terminated for one in episodes)
    for mine, other in zip(episodes, stock, strict=True):
        assert (mine.is_terminated, mine.is_truncated) == (other.is_terminated, other.is_truncated)
        assert mine.env_t == other.env_t
        assert mine.agent_episodes.keys() == other.agent_episodes.keys()
        for agent_id, single in mine.agent_episodes.items():
            twin = other.agent_episodes[agent_id]
            np.testing.assert_array_equal(single.get_observations(), twin.get_observations())
            np.testing.assert_array_equal(single.get_actions(), twin.get_actions())
            np.testing.assert_allclose(single.get_rewards(), twin.get_rewards(), rtol=1e-6)
            assert single.is_terminated == twin.is_terminated
            # At the time limit RLlib truncates those as well that are terminated.
            assert single.is_truncated == (twin.is_truncated and not twin.is_terminated)
            assert single.module_id == twin.module_id
            steps = [mine.env_t_to_agent_t[agent_id].data, other.env_t_to_agent_t[agent_id].data]
            assert steps[0] == steps[1]


def in_batch_order(episode):
    return list(
        ConnectorV2.single_agent_episode_iterator([episode], agents_that_stepped_only=False)
    )


def value_targets(pipeline, module, episodes):
    """By episode and agent, as the learner's pipeline computes them."""
    found = {}
    for episode in episodes:
        key = episode.id_
        lengths = [(one.module_id, one.agent_id, len(one)) for one in in_batch_order(episode)]
        batch = pipeline(
            rl_module=module, batch={}, episodes=[episode], shared_data={}, metrics=None
        )
        for policy, columns in batch.items():
            targets = columns[Postprocessing.VALUE_TARGETS].numpy()
            mine = [(k, n) for one, k, n in lengths if one == policy]
            parts = np.split(targets, np.cumsum([n + 1 for _, n in mine])[:-1])
            for (agent_id, n), part in zip(mine, parts, strict=True):
                found[key, agent_id] = part[:n]
    return found


def targets_of_columns(module, rows, log, runner):
    batch = ColumnBatch(rows, 0, runner.config.gamma, runner.config.lambda_)
    made = ColumnsToTrainBatch()(rl_module=module, episodes=[batch])
    found, chunks = {}, Chunks(log)
    for policy, mine in rows.items():
        slots = runner._slots[policy]
        targets = made[policy][Postprocessing.VALUE_TARGETS].numpy()
        steps = np.repeat(np.arange(log.num_steps), np.diff(mine.starts))
        held = chunks.holding(slots.world_of[mine.slots], steps)
        for chunk, slot in set(zip(held.tolist(), mine.slots.tolist(), strict=True)):
            chosen = (held == chunk) & (mine.slots == slot)
            agent_id = slots.agent_ids[slots.agent_of[slot]]
            found[chunks.ids[chunk], agent_id] = targets[chosen]
    return found


def test_value_targets_of_stock_episodes_and_columns(runner, ray_session):
    algo = small().build_algo()
    learner = algo.learner_group._learner
    rows, log, episodes = roll(runner, 40)
    stock = replayed(runner, log, episodes)
    by_columns = targets_of_columns(learner.module, rows, log, runner)
    by_stock = value_targets(learner._learner_connector, learner.module, stock)
    by_episodes = value_targets(learner._learner_connector, learner.module, episodes)
    assert by_columns.keys() == by_episodes.keys() == by_stock.keys()
    assert len(by_columns) > 20
    for key, targets in by_stock.items():
        np.testing.assert_allclose(by_episodes[key], targets, atol=1e-5)
        np.testing.assert_allclose(by_columns[key], targets, atol=1e-5)
    algo.stop()


def test_dead_agents_act_no_more(runner):
    rows, _, episodes = roll(runner, 40)
    shorter = [
        one
        for episode in episodes
        for one in episode.agent_episodes.values()
        if len(one) < len(episode)
    ]
    assert shorter
    assert all(one.is_terminated for one in shorter)
    played = sum(len(one) for episode in episodes for one in episode.agent_episodes.values())
    assert played == sum(map(len, rows.values())) < 3 * 4 * 40


@pytest.mark.parametrize(
    ("horizon", "attack_at", "terminated"), [(5, 3, True), (3, None, False), (3, 3, True)]
)
def test_endings_in_the_batch(horizon, attack_at, terminated):
    runner = BatchedEnvRunner(config=small(strike, num_envs=2, horizon=horizon))
    hit, stay = (runner.env._actions["fighter"]._conversion.convert(
        {"attack": attack, "move": np.zeros(2, int)}) for attack in (1, 0))  # fmt: skip
    steps = iter(range(1, 99))

    def act(module_id, module):
        def forward(batch, **kwargs):
            action = hit if next(steps) == attack_at else stay
            return {Columns.ACTIONS: torch.full((len(batch[Columns.OBS]),), action)}

        module._forward_exploration = forward

    runner.module.foreach_module(act)
    rows, _, episodes = roll(runner, 3)
    assert len(episodes) == 2
    for episode in episodes:
        assert (episode.is_terminated, episode.is_truncated) == (terminated, not terminated)
        single = episode.agent_episodes["knight"]
        assert (single.is_terminated, single.is_truncated) == (terminated, not terminated)
        assert len(single) == 3
        # The final observation is that of the world that ended, not of the one that began.
        window = single.get_observations(-1)
        assert (window == 2).any() == (attack_at is None)
        assert single.get_rewards(-1) == (-0.125 if attack_at is None else 0.875)
    (mine,) = rows.values()
    assert (mine.terminated[-2:] == terminated).all()


def test_chunks_of_an_episode_fit_together(runner):
    runner._begin()
    chunks = {}
    for _ in range(5):
        for episode in runner.sample(num_timesteps=4 * 3, explore=True):
            chunks.setdefault(episode.id_, []).append(episode)
    longer = [one for one in chunks.values() if len(one) > 1]
    assert longer
    for first, *others in longer:
        for other in others:
            assert other.env_t_started == first.env_t
            for agent_id, single in other.agent_episodes.items():
                before = first.agent_episodes[agent_id]
                assert single.t_started == before.t
                np.testing.assert_array_equal(
                    single.get_observations(0), before.get_observations(-1)
                )
            first = other


def test_agents_of_an_episode_have_an_order(runner):
    """The learner lines its batch up in this order, which a set would leave to the process."""
    _, _, episodes = roll(runner, 12)
    for episode in episodes:
        assert list(episode.agent_ids) == list(episode.agent_episodes)
        assert {*episode.agent_ids} == episode.agent_ids


def test_seeds():
    runs = [BatchedEnvRunner(config=small()) for _ in "ab"]
    for one in runs:
        torch.manual_seed(0)
        one.found = one.sample(num_timesteps=80, explore=True)
    assert len(runs[0].found) == len(runs[1].found)
    for first, second in zip(*(one.found for one in runs), strict=True):
        for key, single in first.agent_episodes.items():
            twin = second.agent_episodes[key]
            np.testing.assert_array_equal(single.get_observations(), twin.get_observations())


def starts(episodes):
    return [one.agent_episodes["walker"].get_observations(0).tolist() for one in episodes]


def test_whole_episodes_do_not_start_alike_each_time():
    one, twin = (BatchedEnvRunner(config=small(corridor, num_envs=8)) for _ in "ab")
    first, second = (starts(one.sample(num_episodes=8, explore=False)) for _ in "ab")
    assert first != second
    assert starts(twin.sample(num_episodes=8, explore=False)) == first


def test_worlds_that_are_made_anew_start_otherwise():
    runner = BatchedEnvRunner(config=small(corridor, num_envs=8))
    first = starts(runner.sample(num_timesteps=8, explore=False))
    runner.make_env()
    assert starts(runner.sample(num_timesteps=8, explore=False)) != first


def test_evaluation_plays_an_equal_share_in_every_world(runner):
    for count in (3, 4, 10):
        episodes = runner.sample(num_episodes=count, explore=False)
        assert len(episodes) == count
        assert all(one.is_done for one in episodes)
        metrics = runner.get_metrics()
        assert metrics["num_episodes"].peek() == count
        assert metrics["episode_len_mean"].peek() == np.mean([len(one) for one in episodes])
        returns = [one.get_return() for one in episodes]
        assert metrics["episode_return_mean"].peek() == pytest.approx(np.mean(returns))
        assert metrics["episode_return_max"].peek() == pytest.approx(max(returns))
        assert metrics["num_env_steps_sampled"].peek() == sum(map(len, episodes))


def test_metrics(runner):
    episodes = runner.sample(num_episodes=8, explore=True)
    metrics = runner.get_metrics()

    def mean(values):
        return pytest.approx(np.mean(values))

    for agent_id in ("red", "blue0", "blue1"):
        singles = [one.agent_episodes[agent_id] for one in episodes]
        acted = metrics["num_agent_steps_sampled"][agent_id].peek()
        assert acted == sum(map(len, singles))
        assert metrics["agent_steps"][agent_id].peek() == mean([len(one) for one in singles])
        assert metrics["agent_episode_returns_mean"][agent_id].peek() == mean(
            [one.get_return() for one in singles]
        )
    blue = [
        sum(one.agent_episodes[key].get_return() for key in ("blue0", "blue1")) for one in episodes
    ]
    assert metrics["module_episode_returns_mean"]["fighter_2"].peek() == mean(blue)
    left = [
        sum(not one.agent_episodes[key].is_terminated for key in ("blue0", "blue1"))
        for one in episodes
    ]
    assert metrics["survivors"]["fighter_2"].peek() == np.mean(left)
    won = metrics["win_rate"]["fighter_1"].peek()
    assert metrics["survivors"]["fighter_1"].peek() == 1.0
    assert won == np.mean([one.is_terminated for one in episodes])
    assert 0 < won < 1
    assert metrics["win_rate"]["fighter_2"].peek() == 0.0


def test_policy_of_some_agents_of_a_group():
    config = PPOConfig().env_runners(num_env_runners=0).rl_module(
        model_config={"fcnet_hiddens": [8]}
    ).multi_agent(
        policies={"a", "b"},
        policy_mapping_fn=lambda agent_id, *_, **__: "a" if agent_id != "blue0" else "b",
    )  # fmt: skip
    runner = BatchedEnvRunner(config=batched(config, skirmish, num_envs=3, horizon=5))
    _, _, episodes = roll(runner, 12)
    for episode in episodes:
        for agent_id, single in episode.agent_episodes.items():
            assert single.module_id == ("b" if agent_id == "blue0" else "a")
    actions = {key: slots.agent_ids for key, slots in runner._slots.items()}
    assert actions == {"a": ["red", "blue1"], "b": ["blue0"]}


@pytest.mark.parametrize("name", list(shipped))
def test_shipped_simulations(name):
    runner = BatchedEnvRunner(config=small(shipped[name], num_envs=2, horizon=6))
    for episode in runner.sample(num_timesteps=16, explore=True):
        for agent_id, single in episode.agent_episodes.items():
            space = runner.env.observation_spaces[agent_id]
            assert all(one in space for one in single.get_observations())
            space = runner.env.action_spaces[agent_id]
            assert all(one in space for one in single.get_actions())
    for episode in runner.sample(num_timesteps=4, random_actions=True):
        for agent_id, single in episode.agent_episodes.items():
            space = runner.env.action_spaces[agent_id]
            assert all(one in space for one in single.get_actions())


def test_actions_beyond_one_number():
    sim = skirmish()
    wrapped = SuperAgentWrapper(sim, {"team": ["blue0", "blue1"], "one": ["red"]})
    runner = BatchedEnvRunner(config=small(wrapped, num_envs=2, horizon=6))
    spaces = runner.env.action_spaces
    assert spaces["one"].n <= MAX_JOINT_ACTIONS
    episodes = runner.sample(num_timesteps=24, explore=True)
    assert {"team", "one"} == set(episodes[0].agent_episodes)


def test_masks():
    runner = BatchedEnvRunner(config=masked())
    rows, _, episodes = roll(runner, 20)
    for mine in rows.values():
        mask, actions = mine.obs["action_mask"], mine.outputs[Columns.ACTIONS]
        assert 0 < mask.mean() < 1
        assert mask[np.arange(len(mine)), actions].all()
        assert mine.tails["action_mask"].shape == (len(mine.tails["observations"]), mask.shape[1])
    single = next(iter(episodes[0].agent_episodes.values()))
    assert set(single.get_observations(0)) == {"action_mask", "observations"}


def masked(mode="episodes"):
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
        ActionMaskingTorchRLModule,
    )

    config = (
        PPOConfig()
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=60, minibatch_size=20, num_epochs=1)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [8]}
            )
        )
        .debugging(seed=3)
    )
    return batched(config, skirmish, mode=mode, num_envs=4, horizon=HORIZON, masks=True)


def test_a_step_that_fails(runner, monkeypatch):
    runner.config.fault_tolerance(restart_failed_sub_environments=True)
    first = runner.env
    calls = []

    def fail(actions):
        calls.append(actions)
        raise RuntimeError("the rules broke")

    monkeypatch.setattr(first, "step", fail)
    episodes = runner.sample(num_timesteps=40, explore=True)
    assert len(calls) == 1
    assert runner.env is not first
    assert sum(map(len, episodes)) == 40


def test_counting_by_agents(runner):
    runner.config.multi_agent(count_steps_by="agent_steps")
    episodes = runner.sample(num_timesteps=50, explore=True)
    played = sum(len(one) for episode in episodes for one in episode.agent_episodes.values())
    assert 50 <= played < 50 + 3 * 4


@pytest.mark.parametrize("name", ["team-battle", "multi-maze-navigation"])
def test_single_worlds_of_a_setting_pass_the_checks_of_rllib(name):
    config = small(shipped[name], num_envs=1)
    check_multiagent_environments(StockEnv(config.env_config))
