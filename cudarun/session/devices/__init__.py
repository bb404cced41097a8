"""Descriptions of devices and the check of the machine: ``cudarun devices``."""
