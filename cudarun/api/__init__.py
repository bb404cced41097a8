"""The Python API: launches and loads of the command line, called from a program.

The program's process only writes the values of a command's parameters and arrays, and reads a
report and arrays. A service process runs the command, with workers of its own.
"""
