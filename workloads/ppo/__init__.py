"""PPO: players that step environments, and a learner that acts in all of them and learns from the results."""
