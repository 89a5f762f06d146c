# Toolchain: Debian's cross compiler and libraries for 64-bit ARM (dpkg --add-architecture arm64; packages:
# g++-aarch64-linux-gnu libopenblas-dev:arm64 zlib1g-dev:arm64, to run programs qemu-user-static
# libgomp1:arm64 libstdc++6:arm64, and for the tests libgtest-dev:arm64 libgmock-dev:arm64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)  # GCC notes where code of before 10.1 passed a pair otherwise
