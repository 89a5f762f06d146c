#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/files/json_document.hpp"

namespace blockspan::perf {

using apps::Json;

/// What is measured in a case.
enum class Task {
  product,         ///< Y = alpha A X + beta Y
  eigenpairs,      ///< the smallest eigenpairs of A, or of A x = lambda B x
  linear_systems,  ///< A X = B
  hierarchy,       ///< setup, refresh and cycles of multigrid
  profile,         ///< a product under Nsight Compute
};

/// One thing to measure.
struct Case {
  std::string group = {};       ///< rows of one table
  std::string spec = {};        ///< of a generator; empty where only the file will do
  std::string file = {};        ///< name of a real matrix, or its path; empty: none
  std::string scalar = "f64";   ///< f32, f64, c64, c128
  int columns = 1;              ///< of X and Y; pairs wanted; right-hand sides
  Json notes = Json::object();  ///< what else the results should hold, and the tables may show
  /// Ids or families of contenders, or their beginnings up to a '/'; empty: all of them but the
  /// family "form".
  std::vector<std::string> contenders = {};
  double alpha = 1, beta = 0;
  Task task = Task::product;
  double tolerance = 1e-8;  ///< of the solvers
  std::string mass = {};    ///< of a pencil's eigenpairs: the spec of B

  std::string name() const { return file.empty() ? spec : file; }
  /// Whether the contender of this id and family takes part.
  bool wants(std::string const& id, std::string const& family) const;
};

/// "generator:MxK:NUMBER", a spec.
std::string spec_of(char const* generator, std::int64_t m, std::int64_t k, double number);

/// What tells a case from every other of its study, as members of its entry in the results.
Json identity(Case const& one);

/// Where the matrix comes from: the file of that name in BLOCKSPAN_MATRIX_DIR (or at that path),
/// else the spec. Throws Error where there is neither.
std::string source_of(Case const& one);

/// A column of a table: its heading and its content, in the words of pages/values.py.
struct Column {
  std::string head, value;
};

/// A figure: curves over the cases of each group, values in the same words.
struct Plot {
  std::string name = {}, title = {}, x = {};
  std::vector<Column> curves = {};
  bool log_x = false, log_y = false;
  std::string y = {};  ///< label of the vertical axis
};

/// A line below the tables: a number made of all cases, and what the source published.
struct Summary {
  std::string text, value, published;
};

/// An experiment: what it reproduces, its cases, and how the page shows them.
struct Study {
  std::string name;
  std::string title;
  std::string reproduces;  ///< paper, table or figure; or what it is for
  std::string note = {};   ///< what a reader should know of it
  std::vector<Column> table = {};
  std::vector<Plot> plots = {};
  std::vector<Summary> summaries = {};
  std::vector<Case> cases = {};
};

/// What the command line says that a study depends on.
struct Scope {
  bool quick = false;                      ///< small cases, few of them
  std::string cases = {};                  ///< file of the study `cases`
  std::vector<std::string> groups = {};    ///< of it, these only; empty: all
  std::vector<std::string> matrices = {};  ///< cases of these names only; empty: all
  std::vector<std::string> core = {};      ///< ids of the kernels of the core
  /// Whether a matrix file has complex entries: studies do not read files. Null: none has.
  bool (*is_complex)(std::string const& path) = nullptr;
};

/// How the results of a study describe it: title, reproduces, note, layout.
Json description(Study const& study);

}  // namespace blockspan::perf
