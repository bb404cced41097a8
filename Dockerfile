# cudarun with NVRTC and compiled kernels on the device cpu: see docs/how-to/test-in-ci.md.
FROM python:3.12-slim

COPY . /src
RUN pip install --no-cache-dir '/src[toolkit,fast]' && rm -rf /src

# What the NVIDIA Container Toolkit mounts if the container gets GPUs: the driver, and nvidia-smi.
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility

WORKDIR /work
ENTRYPOINT ["cudarun"]
