"""The order of threads and of asynchronous operations, as usual or as a schedule draws it."""
