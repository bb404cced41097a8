"""What both halves of ``cudarun exec`` know: the CUDA libraries' functions, and the report."""
