"""Who is to go, and when: evaluation, entries, their timers."""
