"""Gym sampling: any registered Gymnasium environment; the defaults are the paper's."""

from workloads.sampling import SamplingTask

Task = SamplingTask
