"""Logs of compilers and linkers, parsed and explained. Independent of drivers."""
