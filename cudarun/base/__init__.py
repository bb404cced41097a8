"""The ground of all packages: errors, records, files, the terminal, the process and its machine."""
