"""The machine that runs decoded code: lanes, their scheduling, memory and warps."""
