"""The flow of control: blocks, calls, barriers and waits of a warp, and ranges of thread blocks."""
