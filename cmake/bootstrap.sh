#!/bin/sh
# From a checkout to a result in one command, on a fresh Debian 12 machine or any other:
#   cmake/bootstrap.sh demo   builds the demo preset and finds the ten lowest modes of an elastic body
#   cmake/bootstrap.sh test   builds the host preset and runs its tests
#   cmake/bootstrap.sh cuda   builds the CUDA preset and says where the programs are
# The demo is built with what it runs and no more (preset demo, in build/demo); the programs say in one
# line what they were built without. Kokkos Kernels' component takes minutes: cuda has it, the others
# on demand: cmake/bootstrap.sh test -DBlockspan_ENABLE_KOKKOS_KERNELS=ON
# More arguments go to the configuration: cmake/bootstrap.sh test -DBlockspan_BACKENDS=OPENMP
set -eu

usage() {
  echo "usage: cmake/bootstrap.sh demo|test|cuda [-D<OPTION>=<VALUE> ...]" >&2
  exit 2
}

[ $# -ge 1 ] || usage
task=$1
shift
case $task in demo | test | cuda) ;; *) usage ;; esac
for option; do
  case $option in -D?*) ;; *) usage ;; esac
done

cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build ca-certificates python3-pip python3-venv ccache \
libopenblas-dev zlib1g-dev nlohmann-json3-dev libcli11-dev"
extras=""  # components that are left out where these are missing
[ "$task" = demo ] || {
  packages="$packages libgtest-dev libgmock-dev libmumps-seq-dev libopenmpi-dev openmpi-bin"
  extras="libmetis-dev libptscotch-dev"
}

# missing NAME ...: the Debian packages that are not there. On another distribution: none, and CMake says
# what it lacks.
missing() {
  command -v dpkg-query >/dev/null || return 0
  for package; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "ok installed" ||
      printf '%s ' "$package"
  done
}

# shellcheck disable=SC2086 # lists of words
install_packages() {
  needed=$(missing $packages) wanted=$(missing $extras)
  [ -n "$needed$wanted" ] || return 0
  if [ "$(id -u)" -eq 0 ]; then
    as_root=
  elif sudo -n true 2>/dev/null; then
    as_root=sudo
  else
    as_root=false
  fi
  if [ "$as_root" = false ] || ! command -v apt-get >/dev/null; then
    [ -n "$needed" ] || return 0
    echo "bootstrap: as root, first run: apt-get install ${needed% }" >&2
    exit 1
  fi
  echo "bootstrap: apt-get install $needed${wanted% }"
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  install="$as_root apt-get install -q -y --no-install-recommends"
  $as_root apt-get update -q >"$log" 2>&1 || true
  if [ -n "$needed" ] && ! $install $needed >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "bootstrap: apt-get could not install: ${needed% }" >&2
    exit 1
  fi
  if [ -n "$wanted" ] && ! $install $wanted >>"$log" 2>&1; then
    echo "bootstrap: goes on without ${wanted% }, which apt-get could not install"
  fi
  rm -f "$log"
}

# configure PRESET [OPTION ...]: the first time, and when there are options.
configure() {
  if [ ! -f "build/$1/build.ninja" ] || [ $# -gt 1 ]; then
    cmake --preset "$@"
  fi
}

install_packages
case $task in
  demo)
    configure demo "$@"
    cmake --build --preset demo --target blockspan-eig
    set -x
    build/demo/apps/blockspan-eig/blockspan-eig elasticity:16 --mass elasticity-mass:16 --pairs 10
    ;;
  test)
    configure host "$@"
    cmake --build --preset host
    ctest --preset host --parallel "$(nproc)"
    ;;
  cuda)
    PATH=$PATH:/usr/local/cuda/bin
    if ! command -v nvcc >/dev/null; then
      echo "bootstrap: no nvcc: install the CUDA Toolkit 12.4 or newer" >&2
      exit 1
    fi
    configure cuda "$@"
    cmake --build --preset cuda
    echo "bootstrap: the programs are in $PWD/build/cuda/apps, the tests in $PWD/build/cuda/tests"
    ;;
esac
