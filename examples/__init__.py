"""Programs that ask Bailiff, each tested as it stands here."""
