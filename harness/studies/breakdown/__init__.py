"""Where a round's time goes: the same code of the workloads, run with spans recorded, and its rounds taken apart."""
