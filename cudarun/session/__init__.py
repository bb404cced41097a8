"""The core of cudarun: all modules that use a driver."""
