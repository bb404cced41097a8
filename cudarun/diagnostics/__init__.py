"""What compilers and linkers say, in its parts, with the reason in plain words. No driver."""
