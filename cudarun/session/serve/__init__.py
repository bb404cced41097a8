"""``cudarun serve``: a process that runs the commands of many clients in warm processes."""
