"""Devices in the worker: what is known of them, how it is followed, what rules' statuses say."""
