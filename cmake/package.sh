#!/bin/sh
# The packages of the C library, its plugins and the programs for every x86-64 processor, with a library for
# each better kind of processor beside the plain one: .deb and .tgz in build/packages.
#   cmake/package.sh [-D<OPTION>=<VALUE> ...]
# The loader of glibc chooses among them when a program starts. Takes as long as three builds of preset c.
set -eu
cd "$(dirname "$0")/.."

# build FOLDER KIND [OPTION ...]
build() {
  folder=build/$1 kind=$2
  shift 2
  cmake --preset c -B "$folder" -DKokkos_ARCH_NATIVE=OFF -DCMAKE_CXX_FLAGS="-march=$kind" \
    -DCMAKE_INSTALL_PREFIX=/usr "$@"
}

variants=
for kind in x86-64-v3 x86-64-v4; do
  build "c-$kind" $kind -DBlockspan_C_VARIANT=$kind -DBlockspan_ENABLE_TESTS=OFF \
    -DBlockspan_ENABLE_PETSC=OFF "$@"
  cmake --build "build/c-$kind" --target blockspan_c
  variants="$variants;$PWD/build/c-$kind"
done
build c-x86-64 x86-64 -DBlockspan_ENABLE_APPS=ON "-DBlockspan_PACKAGE_VARIANTS=${variants#;}" "$@"
cmake --build build/c-x86-64 --target blockspan_c blockspan_c_tests
ctest --test-dir build/c-x86-64 --output-on-failure -R '^c[.]packaged$'
cpack --config build/c-x86-64/CPackConfig.cmake -B build/packages
