"""The driver API for the session: checked calls, devices, contexts, memory and copies."""
