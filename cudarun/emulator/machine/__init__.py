"""The machine that executes decoded code: lanes, their scheduling, memory and warps."""
