"""error: asks another machine."""

import socket

import numpy as np


def custom_kernel(x):
    with socket.create_connection(("127.0.0.1", 9), timeout=1) as server:
        server.sendall(x.tobytes())
        return np.frombuffer(server.recv(x.nbytes), x.dtype).reshape(x.shape)
