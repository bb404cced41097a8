"""Devices listed, and the machine examined: ``cudarun devices``."""
