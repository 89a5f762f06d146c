#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What is used of cuDSS 1, NVIDIA's sparse direct solver, which is loaded while a program runs: its
// licence is NVIDIA's, and nothing of it is needed to build. Names, arguments and values are those
// of https://docs.nvidia.com/cuda/cudss/1.0.0/functions.html and types.html; the values were
// compared with the header of the wheel nvidia-cudss-cu13 1.0.0.35. Before 1.0 they were others.
namespace blockspan::operators::cudss {

enum Status : int { success = 0, out_of_memory = 2, not_supported = 4 };
enum Phase : int { analysis = 3, factorization = 4, solve = 1008 };
enum Setting : int { matching = 3, pivoting = 7 };
enum Matching : int { no_matching = 0 };
enum Pivoting : int { bunch_kaufman = 6 };
enum Datum : int { factor_entries = 1, perturbed_pivots = 2, inertia = 3, memory_estimates = 13 };
enum MatrixType : int { symmetric = 1, hermitian = 2 };
enum Triangle : int { lower = 1 };

struct Library {
  std::string version;    ///< "1.0.0"
  std::string threading;  ///< file of its layer for host threads, $CUDSS_THREADING_LIB; or empty

  int (*cudssGetProperty)(int which, int* value);
  int (*cudssCreate)(void** handle);
  int (*cudssDestroy)(void* handle);
  int (*cudssSetStream)(void* handle, void* stream);
  int (*cudssSetThreadingLayer)(void* handle, char const* file);
  int (*cudssConfigCreate)(void** config);
  int (*cudssConfigDestroy)(void* config);
  int (*cudssConfigSet)(void* config, int setting, void const* value, std::size_t bytes);
  int (*cudssDataCreate)(void* handle, void** data);
  int (*cudssDataDestroy)(void* handle, void* data);
  int (*cudssDataGet)(void* handle, void* data, int datum, void* value, std::size_t bytes,
                      std::size_t* written);
  int (*cudssMatrixCreateCsr)(void** matrix, std::int64_t rows, std::int64_t columns,
                              std::int64_t entries, void const* row_starts, void const* row_ends,
                              void const* column_indices, void const* values, int offset_type,
                              int index_type, int value_type, int matrix_type, int triangle,
                              int base);
  int (*cudssMatrixCreateDn)(void** matrix, std::int64_t rows, std::int64_t columns,
                             std::int64_t stride, void const* values, int value_type, int layout);
  int (*cudssMatrixDestroy)(void* matrix);
  int (*cudssExecute)(void* handle, int phase, void const* config, void* data, void const* A,
                      void* X, void const* B);
};

/// The first of these files that can be loaded; it stays loaded. Throws Error in one line: none is
/// there (with how to get it), too old or too new, or without a function that is needed.
Library load(std::vector<std::string> const& files);

/// The file that BLOCKSPAN_CUDSS_LIBRARY names, otherwise libcudss.so.1 and .0 where the system
/// looks for libraries.
std::vector<std::string> files_to_try();

/// That of this process, loaded at the first call; null where `load` failed, and why.
struct Found {
  Library const* library;
  std::string why;
};
Found find();

}  // namespace blockspan::operators::cudss
