#include "studies/studies.hpp"

namespace blockspan::perf {

Study forms(Scope const& scope) {
  Study study;
  study.name = "forms";
  study.title = "The same product in other forms";
  study.reproduces =
      "What layouts of X and Y, 64-bit offsets and transposing cost or gain: time over that of the "
      "row-major product with 32-bit offsets.";
  study.note =
      "Transposed: the matrix in memory is A^T, and its transpose multiplies, so that the result "
      "is the plain one's; held: SpmmPlan::hold_transpose. Symmetric matrices hold nothing then. "
      "In slices: SpmmPlan::hold_slices, for one column; as auto where nothing is held.";
  study.table = {{"matrix", "matrix"},
                 {"type", "scalar"},
                 {"n", "columns"},
                 {"auto", "ms:auto"},
                 {"it ran", "ran:auto"},
                 {"column-major / auto", "speedup:auto:auto/column"},
                 {"column-major X / auto", "speedup:auto:form/column_x"},
                 {"column-major Y / auto", "speedup:auto:form/column_y"},
                 {"64-bit offsets / auto", "speedup:auto:form/long_offsets"},
                 {"in slices / auto", "speedup:auto:form/held_slices"},
                 {"transposed, held / auto", "speedup:auto:form/held_transpose"},
                 {"transposed / auto", "speedup:auto:form/transposed"}};
  auto const add = [&](std::string const& group, std::string const& spec, int columns,
                       std::string const& scalar) {
    study.cases.push_back({.group = group,
                           .spec = spec,
                           .scalar = scalar,
                           .columns = columns,
                           .contenders = {"auto", "form"}});
  };
  if (scope.quick) {
    for (std::string const spec : {"laplace7:12", "rmat:8:8"})
      for (int const columns : {1, 8}) add("quick", spec, columns, "f64");
    return study;
  }
  for (std::string const spec : {"laplace7:128", "laplace27:96", "elasticity:44:free", "rmat:20:16",
                                 "banded:500000:16", "uniform:8192x4096:12.97"})
    for (int const columns : {1, 2, 4, 8, 16, 32, 64}) add("double", spec, columns, "f64");
  for (std::string const spec : {"laplace27:96", "elasticity:44"}) add("complex", spec, 8, "c128");
  return study;
}

}  // namespace blockspan::perf
