"""An environment of the user's: what serves it best here. Measures it, and what each backend costs a round with it."""
