"""Functions over lanes as functions over LLVM's vectors."""
