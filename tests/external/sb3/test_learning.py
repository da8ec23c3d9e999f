"""What the library does with the slots: its wrappers and callbacks, and learning."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor, VecNormalize

from abmarl.external import SB3VecEnv
from tests.support.grid_worlds import corridor
from tests.support.sb3_worlds import STAY, hunted_env

torch.set_num_threads(1)
EXAMPLES = Path(__file__).parents[3] / "examples"


def corridors(worlds, seed, **options):
    return SB3VecEnv(corridor().vectorize(worlds, seed=seed, horizon=20), **options)


def test_ppo_learns():
    """The best is -0.28; -0.45 within 20,000 steps of seed 0."""
    env = corridors(32, seed=0)
    model = PPO(
        "MlpPolicy", env, n_steps=32, batch_size=256, n_epochs=6, learning_rate=1e-3, gamma=0.95,
        seed=0, device="cpu", **env.on_policy(),
    )  # fmt: skip
    model.learn(20_000)
    returns, _ = evaluate_policy(model, corridors(100, seed=9), n_eval_episodes=200)
    assert returns >= -0.45
    # What SB3 prints while it learns: the last 100 episodes with sampled actions.
    assert np.mean([episode["r"] for episode in model.ep_info_buffer]) > -0.6


def test_dqn_learns():
    """-0.45 within 12,000 steps of seed 0."""
    env = corridors(8, seed=0)
    model = DQN(
        "MlpPolicy", env, learning_starts=500, buffer_size=20_000, batch_size=64, train_freq=2,
        gradient_steps=1, learning_rate=2e-3, gamma=0.95, exploration_fraction=0.5,
        target_update_interval=200, seed=0, device="cpu", **env.off_policy(),
    )  # fmt: skip
    model.learn(12_000)
    returns, _ = evaluate_policy(model, corridors(100, seed=9), n_eval_episodes=200)
    assert returns >= -0.45


@pytest.mark.parametrize("observations", ["flat", "dict"])
@pytest.mark.parametrize("order", [[VecNormalize], [VecFrameStack], [VecFrameStack, VecNormalize]])
def test_wrappers_of_the_library(order, observations):
    env = hunted_env(worlds=4, strikes=(2, 6, 11, 14, 18), observations=observations)
    wrapped = env
    for wrapper in order:
        wrapped = wrapper(wrapped, 3) if wrapper is VecFrameStack else wrapper(wrapped)
    policy = "MlpPolicy" if observations == "flat" else "MultiInputPolicy"
    model = PPO(policy, wrapped, n_steps=12, batch_size=32, seed=0, device="cpu",
                **wrapped.on_policy())  # fmt: skip
    model.learn(2 * 96)
    assert model.num_timesteps == 192
    assert 0 < model.rollout_buffer.acted.sum() < 96
    assert {episode["l"] for episode in model.ep_info_buffer} == {2, 3, 4}


def test_stacked_frames_end_with_the_agent():
    env = VecFrameStack(hunted_env(strikes=(2,), horizon=5), 2)
    env.reset()
    before = env.step(np.full(2, STAY))[0][0, 9:].copy()
    obs, _, done, infos = env.step(np.full(2, STAY))
    assert done[0]
    assert np.array_equal(infos[0]["terminal_observation"][:9], before)
    assert not obs[0, :9].any()


def test_monitor():
    """VecMonitor says that the episodes are known already, and counts steps of waiting, too."""
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        env = VecMonitor(hunted_env(strikes=(1, 5), horizon=4))
    env.reset()
    for step in range(1, 6):
        _, _, done, infos = env.step(np.full(2, STAY))
        if done[0]:
            assert infos[0]["episode"]["l"] == {1: 1, 5: 4}[step]


def test_evaluation_does_not_count_waiting():
    model = PPO("MlpPolicy", hunted_env(), n_steps=16, batch_size=32, device="cpu", seed=0)
    returns, lengths = evaluate_policy(
        model, hunted_env(strikes=(1, 5, 9, 13), horizon=4), 6, return_episode_rewards=True
    )
    # blue0, blue1, blue0, ...: one is killed in its first step, the other lives to the end.
    assert sorted(lengths) == [1, 1, 1, 4, 4, 4]
    assert len(returns) == 6


def test_eval_callback(tmp_path):
    env = corridors(8, seed=0)
    callback = EvalCallback(
        corridors(8, seed=1), n_eval_episodes=16, eval_freq=32, verbose=0,
        best_model_save_path=str(tmp_path), log_path=str(tmp_path),
    )  # fmt: skip
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=64, device="cpu", **env.on_policy())
    model.learn(512, callback=callback)
    kept = np.load(tmp_path / "evaluations.npz")
    assert kept["results"].shape == (2, 16)
    best = PPO.load(tmp_path / "best_model.zip", device="cpu")
    assert best.predict(env.reset())[0].shape == (8,)


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_example_of_foraging(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pygame")
    share = example("sb3_foraging").main(steps=1000, worlds=64, out=str(tmp_path / "out"))
    assert 0.1 < share < 0.6
    assert "after 4,096 steps" in capsys.readouterr().out
    for name in ("forager.zip", "forager.mp4", "curve.png"):
        assert (tmp_path / "out" / name).stat().st_size > 1000


def test_example_of_predator_prey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, after = example("sb3_predator_prey").main(steps=1000, worlds=8)
    assert before != after
    assert Path("prey.zip").exists()


@pytest.mark.slow
def test_a_forager_learns_to_collect_nine_of_ten_resources(tmp_path):
    """Within ten minutes on two cores; some two where nothing else runs."""
    assert example("sb3_foraging").main(minutes=10, out=str(tmp_path)) >= 0.9
