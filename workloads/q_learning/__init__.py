"""Deep Q-learning on Blackjack: rollout workers, a replay buffer and a learner."""
