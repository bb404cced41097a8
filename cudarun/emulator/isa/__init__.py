"""The instruction set as tables that read like the PTX ISA manual."""
