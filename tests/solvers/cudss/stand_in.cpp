// A stand-in for cuDSS in memory of the host, by LAPACK's Bunch-Kaufman factors of the full matrix:
// what it is given and asked for is what the real one would be. Compiled with STAND_IN_MAJOR
// another version, with STAND_IN_INCOMPLETE without one of the functions.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#ifndef STAND_IN_MAJOR
#define STAND_IN_MAJOR 1
#endif

extern "C" {
void dsytrf_(char const*, int const*, double*, int const*, int*, double*, int const*, int*);
void dsytrs_(char const*, int const*, int const*, double const*, int const*, int const*, double*,
             int const*, int*);
void zhetrf_(char const*, int const*, std::complex<double>*, int const*, int*,
             std::complex<double>*, int const*, int*);
void zhetrs_(char const*, int const*, int const*, std::complex<double> const*, int const*,
             int const*, std::complex<double>*, int const*, int*);
}

namespace {

using Complex = std::complex<double>;
enum Status { success = 0, invalid = 3 };

struct Matrix {
  std::int64_t rows, columns, entries;
  void const *offsets, *indices, *values;
  bool is_complex;
};

struct Data {
  std::vector<Complex> full;  // real values of a real one
  std::vector<double> real;
  std::vector<int> pivots;
  bool is_complex = false;
  int n = 0, inertia[2] = {}, perturbed = 0;
};

std::map<int, int> answers;  // of phases, instead of success
int settings[32];
double spoilt = 0;  // relative error of solutions
int lie = 0;        // negative pivots too many

template <class Scalar>
std::vector<Scalar>& factors_of(Data& data) {
  if constexpr (sizeof(Scalar) == sizeof(double))
    return data.real;
  else
    return data.full;
}

void decompose(int n, double* a, int* pivots, int& info) {
  std::vector<double> work(static_cast<std::size_t>(64 * n));
  int const size = 64 * n;
  dsytrf_("L", &n, a, &n, pivots, work.data(), &size, &info);
}
void decompose(int n, Complex* a, int* pivots, int& info) {
  std::vector<Complex> work(static_cast<std::size_t>(64 * n));
  int const size = 64 * n;
  zhetrf_("L", &n, a, &n, pivots, work.data(), &size, &info);
}
void substitute(int n, int columns, double const* a, int const* pivots, double* b) {
  int info = 0;
  dsytrs_("L", &n, &columns, a, &n, pivots, b, &n, &info);
}
void substitute(int n, int columns, Complex const* a, int const* pivots, Complex* b) {
  int info = 0;
  zhetrs_("L", &n, &columns, a, &n, pivots, b, &n, &info);
}

template <class Scalar>
void factor(Data& data, Matrix const& A) {
  int const n = data.n = static_cast<int>(A.rows);
  auto& a = factors_of<Scalar>(data);
  a.assign(static_cast<std::size_t>(n) * n, Scalar(0));
  data.pivots.assign(n, 0);
  auto const* const offsets = static_cast<int const*>(A.offsets);
  auto const* const columns = static_cast<int const*>(A.indices);
  double top = 0;
  for (int i = 0; i < n; ++i)
    for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
      a[i + static_cast<std::size_t>(columns[e]) * n] += static_cast<Scalar const*>(A.values)[e];
      top = std::max(top, std::abs(static_cast<Scalar const*>(A.values)[e]));
    }
  int info = 0;
  decompose(n, a.data(), data.pivots.data(), info);
  data.inertia[0] = data.inertia[1] = data.perturbed = 0;
  for (int i = 0; i < n; ++i) {
    auto& d = a[i + static_cast<std::size_t>(i) * n];
    if (data.pivots[i] < 0) {  // a block of two rows has one pivot of each sign
      ++data.inertia[0], ++data.inertia[1], ++i;
      continue;
    }
    if (std::abs(d) <= 1e-13 * top) d = 1e-13 * (top > 0 ? top : 1), ++data.perturbed;
    ++data.inertia[std::real(d) < 0];
  }
}

template <class Scalar>
void solve(Data& data, Matrix const& X, Matrix const& B) {
  auto* const x = static_cast<Scalar*>(const_cast<void*>(X.values));
  std::copy_n(static_cast<Scalar const*>(B.values), B.rows * B.columns, x);
  substitute(data.n, static_cast<int>(B.columns), factors_of<Scalar>(data).data(),
             data.pivots.data(), x);
  for (std::int64_t e = 0; e < B.rows * B.columns; ++e) x[e] *= 1 + (e % 2 == 0 ? spoilt : -spoilt);
}

int take(void* target, std::size_t room, void const* value, std::size_t bytes,
         std::size_t* written) {
  if (room != bytes) return invalid;
  std::memcpy(target, value, bytes);
  *written = bytes;
  return success;
}

}  // namespace

extern "C" {

/// What a phase returns from now on.
void stand_in_answer(int phase, int status) { answers[phase] = status; }
void stand_in_spoil(double error) { spoilt = error; }
void stand_in_lie(int more) { lie = more; }

int cudssGetProperty(int which, int* value) {
  int const version[] = {STAND_IN_MAJOR, 2, 3};
  *value = version[which];
  return success;
}
int cudssCreate(void** handle) { return *handle = new int(0), success; }
int cudssDestroy(void* handle) { return delete static_cast<int*>(handle), success; }
int cudssSetStream(void*, void*) { return success; }
int cudssSetThreadingLayer(void*, char const*) { return success; }
int cudssConfigCreate(void** config) { return *config = new int(0), success; }
int cudssConfigDestroy(void* config) { return delete static_cast<int*>(config), success; }
int cudssConfigSet(void*, int setting, void const* value, std::size_t bytes) {
  if (bytes != sizeof(int) || setting < 0 || setting >= 32) return invalid;
  std::memcpy(&settings[setting], value, bytes);
  return success;
}
int cudssDataCreate(void*, void** data) { return *data = new Data, success; }
int cudssDataDestroy(void*, void* data) { return delete static_cast<Data*>(data), success; }
int cudssDataGet(void*, void* handle, int datum, void* value, std::size_t bytes,
                 std::size_t* written) {
  auto const& data = *static_cast<Data*>(handle);
  std::int64_t const entries = std::int64_t(data.n) * data.n;
  std::int64_t const estimates[16] = {8 * entries, 16 * entries};
  switch (datum) {
    case 1:
      return take(value, bytes, &entries, sizeof entries, written);
    case 2:
      return take(value, bytes, &data.perturbed, sizeof data.perturbed, written);
    case 3: {
      int const inertia[] = {data.inertia[0], data.inertia[1] + lie};
      return take(value, bytes, inertia, sizeof inertia, written);
    }
    case 13:
      return take(value, bytes, estimates, sizeof estimates, written);
    default:
      return invalid;
  }
}
int cudssMatrixCreateCsr(void** matrix, std::int64_t rows, std::int64_t columns,
                         std::int64_t entries, void const* offsets, void const*,
                         void const* indices, void const* values, int offset_type, int index_type,
                         int value_type, int matrix_type, int triangle, int base) {
  bool const is_complex = value_type == 5;
  bool const fits = offset_type == 10 && index_type == 10 && (is_complex || value_type == 1) &&
                    matrix_type == (is_complex ? 2 : 1) && triangle == 1 && base == 0;
  if (!fits || rows != columns) return invalid;
  *matrix = new Matrix{rows, columns, entries, offsets, indices, values, is_complex};
  return success;
}
int cudssMatrixCreateDn(void** matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                        void const* values, int value_type, int layout) {
  if (stride != rows || layout != 0) return invalid;
  *matrix = new Matrix{rows, columns, 0, nullptr, nullptr, values, value_type == 5};
  return success;
}
int cudssMatrixDestroy(void* matrix) { return delete static_cast<Matrix*>(matrix), success; }
#ifndef STAND_IN_INCOMPLETE
int cudssExecute(void*, int phase, void const*, void* handle, void const* matrix, void* solution,
                 void const* rhs) {
  if (answers[phase] != success) return answers[phase];
  auto& data = *static_cast<Data*>(handle);
  auto const& A = *static_cast<Matrix const*>(matrix);
  if (settings[3] != 0 || settings[7] != 6) return invalid;  // no matching, Bunch and Kaufman
  switch (phase) {
    case 3:
      data.n = static_cast<int>(A.rows);
      return success;
    case 4:
      return A.is_complex ? factor<Complex>(data, A) : factor<double>(data, A), success;
    case 1008: {
      auto const &x = *static_cast<Matrix*>(solution), &b = *static_cast<Matrix const*>(rhs);
      return A.is_complex ? solve<Complex>(data, x, b) : solve<double>(data, x, b), success;
    }
    default:
      return invalid;
  }
}
#endif
}
