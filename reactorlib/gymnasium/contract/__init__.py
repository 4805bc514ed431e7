"""The contract of vector environments: `vector_check.py` compares one with Gymnasium's own, also of all `probes.py`."""

from reactorlib.gymnasium.contract.vector_check import check_vector_env, difference, find_all_faults, find_faults

__all__ = ["check_vector_env", "difference", "find_all_faults", "find_faults"]
