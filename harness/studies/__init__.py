"""Studies beside a run: advice on an environment, rounds taken apart, scaling, the state of a machine."""
