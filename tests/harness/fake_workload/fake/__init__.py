"""A workload that counts. Its reactor backend misbehaves as its parameter `behaviour` says."""
