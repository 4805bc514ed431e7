"""A workload that counts; its reactor backend misbehaves as it is told to."""
