"""How long the serving loop is held up by whoever asks."""
