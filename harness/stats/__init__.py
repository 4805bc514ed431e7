"""Estimates with intervals, and what may be concluded from them: judgements, doubts, limits, the noise floor."""
