# hilbench in a container:
#   docker build --target cpu -t hilbench .            docker run --rm -v "$PWD:/data" hilbench run quick
#   docker build --target cuda -t hilbench:cuda .      docker run --rm --gpus all -v "$PWD:/data" hilbench:cuda doctor
# With `--target develop` it holds what builds and tests hilbench, and no hilbench (.devcontainer/devcontainer.json).
# The packages are those of packages.txt, as for quickstart.sh. The context keeps .git: records name their commit.
ARG CUDA_IMAGE=nvidia/cuda:13.0.0

FROM debian:bookworm AS develop
COPY packages.txt /tmp/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git file dpkg-dev \
    $(awk '!/^#/ {print $2}' /tmp/packages.txt) && rm -rf /var/lib/apt/lists/* /tmp/*

FROM debian:bookworm AS cpu-build
WORKDIR /src
COPY packages.txt .
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git file dpkg-dev \
    $(awk '$1 == "build" {print $2}' packages.txt) && rm -rf /var/lib/apt/lists/*
COPY . .
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
