"""Studies beside a run: advice on an environment, rounds taken apart, scaling, nodes, the state of a machine."""
