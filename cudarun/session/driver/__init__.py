"""The driver API as the session uses it: checked calls, devices, contexts, memory and copies."""
