"""Traffic Junction: agents with a policy network each, on one joint observation."""
