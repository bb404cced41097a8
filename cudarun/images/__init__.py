"""What a file is and what it holds: PTX, cubin, fatbin. Reads bytes, never a driver."""
