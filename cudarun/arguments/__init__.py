"""Typed kernel arguments: grammar, types, initialisers, packing, binding and checks.

Pure: neither a driver nor click is imported here.
"""
