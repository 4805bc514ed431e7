"""PPO as RLlib has it: env runners sample a round with networks of their own, and the driver learns from it."""

import tempfile

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.trainable import trainable

from workloads.ppo.learner import CLIP, ENTROPY_WEIGHT, HIDDEN, LONGEST_GRADIENT, VALUE_WEIGHT
from workloads.ppo.task import Task
from workloads.probe import Probe
from workloads.ray_session import session
from workloads.rllib_runners import configured


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("tuned", probe), tempfile.TemporaryDirectory() as directory:
        trainable.DEFAULT_STORAGE_PATH = directory  # RLlib makes an empty directory, by default in the user's home
        algorithm = _configuration(task).build_algo()
        try:
            probe.ready()
            for _ in range(task.total_rounds):
                algorithm.train()
                probe.round()
            probe.state()
        finally:
            algorithm.stop()


def _configuration(task: Task) -> PPOConfig:
    """The suite's networks and constants. RLlib does not halve the error of a value, and does not clip it here."""
    made: PPOConfig = configured(PPOConfig(), task, task.steps)
    return made.training(
        lr=task.learning_rate,
        gamma=task.gamma,
        lambda_=task.gae_lambda,
        train_batch_size_per_learner=task.units_per_round,
        minibatch_size=task.units_per_round // task.minibatches,
        num_epochs=task.epochs,
        clip_param=CLIP,
        entropy_coeff=ENTROPY_WEIGHT,
        vf_loss_coeff=VALUE_WEIGHT / 2,
        vf_clip_param=float("inf"),
        grad_clip=LONGEST_GRADIENT,
        grad_clip_by="global_norm",
        use_kl_loss=False,
    ).rl_module(
        model_config=DefaultModelConfig(fcnet_hiddens=[HIDDEN, HIDDEN], fcnet_activation="tanh", vf_share_layers=False)
    )
