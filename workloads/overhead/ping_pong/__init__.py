"""An exchange between two actors."""
