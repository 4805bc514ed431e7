"""PPO: players that step environments, a learner that acts in all of them and learns from what came of it."""
