"""The functions of the CUDA libraries, and the report: both sides of ``cudarun exec`` use them."""
