"""For all tests: Ctrl-C reaches the processes that they start."""

from __future__ import annotations

import signal

# A shell has what it starts in the background ignore SIGINT, and all children of that would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
