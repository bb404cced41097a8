"""The server of ``cudarun exec``: the emulated driver for the processes of another program."""
