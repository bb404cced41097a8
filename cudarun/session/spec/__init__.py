"""Runs of many launches: ``cudarun launch --spec``."""
