// NVRTC has the device part of this header built in.
