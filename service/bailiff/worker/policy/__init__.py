"""The policies in force: their file, and what they refer to."""
