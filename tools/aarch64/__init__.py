"""The emulated device on AArch64, by qemu-user on another machine."""
