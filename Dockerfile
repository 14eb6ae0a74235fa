# hilbench in a container:
#   docker build --target cpu -t hilbench .            docker run --rm -v "$PWD:/data" hilbench run quick
#   docker build --target cuda -t hilbench:cuda .      docker run --rm --gpus all -v "$PWD:/data" hilbench:cuda doctor
#   docker build --target cuda12 -t hilbench:cuda12 .  the same for a GTX 1080 or an A100, without cuBLAS, cuDNN and NCCL
# With `--target develop` it holds what builds and tests hilbench, and no hilbench (.devcontainer/devcontainer.json).
# The packages are those of packages.txt, as for quickstart.sh. The context keeps .git: records name their commit.
ARG CUDA_IMAGE=nvidia/cuda:13.0.0

FROM debian:bookworm AS develop
COPY packages.txt /tmp/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git file dpkg-dev \
    $(awk '!/^#/ {print $2}' /tmp/packages.txt) && rm -rf /var/lib/apt/lists/* /tmp/*

FROM debian:bookworm AS build-tree
WORKDIR /src
COPY packages.txt .
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git file dpkg-dev \
    $(awk '$1 == "build" {print $2}' packages.txt) && rm -rf /var/lib/apt/lists/*
COPY . .

FROM build-tree AS cpu-build
RUN cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DHILBENCH_TESTS=OFF -DHILBENCH_CUDA=OFF && \
    cmake --build build && cd build && cpack

FROM debian:bookworm-slim AS cpu
COPY packages.txt /tmp/
COPY --from=cpu-build /src/build/*.deb /tmp/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    $(awk '$1 == "run" {print $2}' /tmp/packages.txt) /tmp/*.deb && rm -rf /var/lib/apt/lists/* /tmp/*
WORKDIR /data
ENTRYPOINT ["hilbench"]

FROM ${CUDA_IMAGE}-devel-ubuntu24.04 AS cuda-build
WORKDIR /src
COPY packages.txt .
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git file dpkg-dev \
    $(awk '$1 == "build" {print $2}' packages.txt) && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DHILBENCH_TESTS=OFF -DHILBENCH_CUDA=ON && \
    cmake --build build && cd build && cpack

# cuBLAS, NCCL and CUPTI are loaded on first use: the image with the toolkit has them.
FROM ${CUDA_IMAGE}-devel-ubuntu24.04 AS cuda
COPY packages.txt /tmp/
COPY --from=cuda-build /src/build/*.deb /tmp/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    $(awk '$1 == "run" {print $2}' /tmp/packages.txt) /tmp/*.deb && rm -rf /var/lib/apt/lists/* /tmp/*
WORKDIR /data
ENTRYPOINT ["hilbench"]

# CUDA 12 is fetched by package name (docs/machines.md, "GTX 1080 and A100").
FROM build-tree AS cuda12-build
RUN apt-get update && ./quickstart.sh --setup --cuda 12 --all-architectures && cd build && cpack

# CUPTI is loaded on first use, from where the build found it.
FROM debian:bookworm-slim AS cuda12
COPY packages.txt /tmp/
COPY --from=cuda12-build /src/build/*.deb /tmp/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    $(awk '$1 == "run" {print $2}' /tmp/packages.txt) /tmp/*.deb && rm -rf /var/lib/apt/lists/* /tmp/*
COPY --from=cuda12-build /src/build/cuda-12.4/lib64 /src/build/cuda-12.4/lib64
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /data
ENTRYPOINT ["hilbench"]
