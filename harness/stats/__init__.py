"""Estimates with intervals, and conclusions from them: judgements, doubts, limits, the noise floor."""
