"""The core: everything that speaks to a driver."""
