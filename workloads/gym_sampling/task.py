"""Sampling of any registered Gymnasium environment. The defaults are the paper's."""

from workloads.sampling import SamplingTask

Task = SamplingTask
