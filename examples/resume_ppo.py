"""PPO that may be killed at any time: started again, it ends with the weights of a run that was not killed.

    python examples/resume_ppo.py --checkpoint checkpoint.bin

The checkpoint has all that the next iteration depends on: environments, weights, optimizer, and two generators.
"""

import argparse
import hashlib
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from reactorlib.gymnasium import ReactorVectorEnv

STEPS, EPOCHS, MINIBATCHES = 32, 4, 4
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2


def make_env(name):
    """An environment of Gymnasium or of the Arcade Learning Environment."""
    if name.startswith("ALE/"):
        import ale_py

        gymnasium.register_envs(ale_py)
    return gymnasium.make(name)


def features(observations):
    """A vector of each observation; of a picture, every eighth row and column."""
    if observations.ndim > 2:
        observations = observations[:, ::8, ::8, 0] / 255
    return torch.tensor(observations.reshape(len(observations), -1), dtype=torch.float32)


class Agent(nn.Module):
    """A network for the policy and one for the value."""

    def __init__(self, inputs, actions):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, actions))
        self.critic = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 1))


class Training:
    """All that a run consists of."""

    def __init__(self, envs, seed):
        self.envs, self.iteration = envs, 0
        self.draws = np.random.default_rng(seed)  # the order of the minibatches; torch's generator draws the actions
        torch.manual_seed(seed)
        self.observations, self.ended = features(envs.reset(seed=seed)[0]), torch.zeros(envs.num_envs)
        self.agent = Agent(self.observations.shape[1], int(envs.single_action_space.n))
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=2.5e-4, eps=1e-5)

    def save(self, path):
        """Replace the checkpoint as a whole: a process that is killed meanwhile leaves the one before."""
        state = {
            "iteration": self.iteration,
            "envs": self.envs.save(),
            "observations": (self.observations, self.ended),
            "agent": self.agent.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "numpy": self.draws.bit_generator.state,
            "torch": torch.get_rng_state(),
        }
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    def restore(self, path):
        """Go on from a checkpoint."""
        state = torch.load(path, weights_only=False)
        self.iteration = state["iteration"]
        self.envs.restore(state["envs"])
        self.observations, self.ended = state["observations"]
        self.agent.load_state_dict(state["agent"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.draws.bit_generator.state = state["numpy"]
        torch.set_rng_state(state["torch"])

    @torch.no_grad()
    def sample(self):
        """A round of steps: a dictionary of tensors, whose first two dimensions are steps and environments."""
        rows = []
        for _ in range(STEPS):
            policy = Categorical(logits=self.agent.actor(self.observations))
            actions = policy.sample()
            row = {"observations": self.observations, "ended": self.ended, "actions": actions}
            row |= {"logs": policy.log_prob(actions), "values": self.agent.critic(self.observations)[:, 0]}
            observations, rewards, terminations, truncations, _ = self.envs.step(actions.numpy())
            rows.append(row | {"rewards": torch.tensor(rewards, dtype=torch.float32)})
            self.observations = features(observations)
            self.ended = torch.tensor(terminations | truncations, dtype=torch.float32)
        found = {key: torch.stack([row[key] for row in rows]) for key in rows[0]}
        advantages, later = torch.zeros_like(found["values"]), torch.zeros(self.envs.num_envs)
        value, going_on = self.agent.critic(self.observations)[:, 0], 1 - self.ended
        for at in reversed(range(STEPS)):
            error = found["rewards"][at] + GAMMA * going_on * value - found["values"][at]
            advantages[at] = later = error + GAMMA * LAMBDA * going_on * later
            value, going_on = found["values"][at], 1 - found["ended"][at]
        return found | {"advantages": advantages, "returns": advantages + found["values"]}

    def learn(self):
        """Sample a round and learn from it."""
        flat = {key: value.flatten(0, 1) for key, value in self.sample().items()}
        size = len(flat["returns"])
        for _ in range(EPOCHS):
            for batch in np.array_split(self.draws.permutation(size), MINIBATCHES):
                part = {key: value[torch.from_numpy(batch)] for key, value in flat.items()}
                policy = Categorical(logits=self.agent.actor(part["observations"]))
                ratio = (policy.log_prob(part["actions"]) - part["logs"]).exp()
                advantage = (part["advantages"] - part["advantages"].mean()) / (part["advantages"].std() + 1e-8)
                loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                loss += 0.25 * (self.agent.critic(part["observations"])[:, 0] - part["returns"]).pow(2).mean()
                self.optimizer.zero_grad()
                (loss - 0.01 * policy.entropy().mean()).backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
                self.optimizer.step()
        self.iteration += 1


def main():
    """Train, from the checkpoint on if there is one. Returns the digest of the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.bin"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    make = [partial(make_env, options.env)] * options.envs
    envs = ReactorVectorEnv(make, workers=options.workers, resumable=True, autoreset_mode="SameStep")
    training = Training(envs, seed=1)
    if options.checkpoint.exists():
        training.restore(options.checkpoint)
    while training.iteration < options.iterations:
        training.learn()
        training.save(options.checkpoint)
    envs.close()
    weights = b"".join(one.numpy().tobytes() for one in training.agent.state_dict().values())
    digest = hashlib.sha256(weights).hexdigest()
    print(f"{training.iteration} iterations, weights {digest[:16]}")
    return digest


if __name__ == "__main__":
    main()
