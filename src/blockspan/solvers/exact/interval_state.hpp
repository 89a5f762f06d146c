#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/solvers/exact/pairs.hpp>
#include <blockspan/solvers/lobpcg/checkpoint.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::exact {

/// All that an interval knows between two runs: a checkpoint is this.
template <class Scalar, class Exec>
struct IntervalState {
  std::vector<ShiftCount> marks;  ///< the ends and every shift that counts, ascending
  Pairs<Scalar, Exec> found;
  int tries = 0, runs = 0;
  // of the report
  std::vector<ShiftCount> counts;
  int shifts = 0, factorizations = 0, steps = 0;
  std::int64_t solved_columns = 0;

  template <class Archive>
  void visit(Archive& archive) {
    archive(marks), archive(found.values), archive(found.errors), archive(found.bounds);
    archive(tries), archive(runs);
    archive(counts), archive(shifts), archive(factorizations), archive(steps);
    archive(solved_columns);
  }

  void take(ExactReport const& report) {
    counts = report.counts, shifts = report.shifts, factorizations = report.factorizations;
    steps = report.steps, solved_columns = report.solved_columns;
  }
  void give(ExactReport& report) const {
    report.counts = counts, report.shifts = shifts, report.factorizations = factorizations;
    report.steps = steps, report.solved_columns = solved_columns;
  }
};

/// What a checkpoint must be of to go on from it: the counts and pairs in it are taken as they are.
struct IntervalProblem {
  std::int64_t rows = 0, scalar_bytes = 0;
  double a = 0, b = 0, norm_k = 0, norm_m = 0, tolerance = 0;
  std::int64_t block = 0, basis = 0, slice = 0, form = 0;
  std::uint64_t seed = 0;
  /// x^H K x and x^H M x of one random vector, and what rounding may do to them: another backend
  /// may go on.
  double energies[2] = {}, rounding[2] = {};

  bool is_same(IntervalProblem other) const {
    bool same = true;
    for (int i = 0; i < 2; ++i) {
      same = same && std::abs(energies[i] - other.energies[i]) <= rounding[i];
      other.energies[i] = energies[i], other.rounding[i] = rounding[i];
    }
    return same && *this == other;
  }

 private:
  bool operator==(IntervalProblem const&) const = default;
};

/// Two products with one column.
template <class Scalar, class Exec>
IntervalProblem problem_of(Pencil<Scalar, Exec>& pencil, double a, double b) {
  auto const x = pencil.new_block("probe", 1), image = pencil.new_block("probe", 1);
  fill_random(pencil.exec, x, 1, 0, pencil.row_space().first_row());
  auto const energy = [&](auto const& y) {
    Kokkos::View<Scalar*, Kokkos::HostSpace> const dot("energy", 1);
    column_dots(pencil.exec, x, y, dot, pencil.workspace);
    return real_part(dot(0));
  };
  pencil.multiply(x, image);
  double const of_k = energy(image), of_m = energy(pencil.with_mass(x).mx);
  double const rounding = 16 * pencil.rounding_of_rows();  // sums over rows included
  auto const& options = pencil.options;
  return {pencil.rows(),
          sizeof(Scalar),
          a,
          b,
          pencil.report.norm_k,
          pencil.report.norm_m,
          options.tolerance,
          options.block,
          options.basis,
          options.slice,
          static_cast<int>(options.form),
          options.seed,
          {of_k, of_m},
          {rounding * pencil.energies(x, {0})[0],
           rounding * pencil.report.norm_m * static_cast<double>(pencil.rows())}};
}

constexpr std::uint64_t interval_mark = 0x336c61767265746e;  // tells its files from others

/// Throws Error where the file cannot be written.
template <class Scalar, class Exec>
void write_interval(Pencil<Scalar, Exec> const& pencil, IntervalProblem problem,
                    IntervalState<Scalar, Exec> state) {
  eigen::CheckpointWriter writer(pencil.options.checkpoint, pencil.row_space());
  writer(interval_mark), writer(problem), writer(state);
  if (state.found.size() > 0) writer.block(pencil.exec, state.found.X);
  writer.commit();
}

/// Throws Error where the file cannot be read, or is of another problem.
template <class Scalar, class Exec>
IntervalState<Scalar, Exec> read_interval(Pencil<Scalar, Exec> const& pencil,
                                          IntervalProblem const& problem) {
  auto const& path = pencil.options.resume;
  eigen::CheckpointReader reader(path, pencil.row_space());
  std::uint64_t mark = 0;
  reader(mark);
  Communicator const ranks = pencil.ranks();
  ranks.run_agreed(
      [&] { require(mark == interval_mark, path, "this is not the checkpoint of an interval"); });
  IntervalProblem of;
  reader(of);
  ranks.run_agreed([&] {
    require(problem.is_same(of), path,
            "the checkpoint is of another problem: matrices, interval, tolerance, block, basis, "
            "slice and seed must be the same");
  });
  IntervalState<Scalar, Exec> state;
  reader(state);
  auto const pairs = static_cast<std::int64_t>(state.found.values.size());
  ranks.run_agreed([&] {
    reader.template require_between<std::int64_t>("the number of pairs", 0, pairs, pencil.rows());
    require(state.marks.size() >= 2 && state.found.errors.size() == state.found.values.size() &&
                state.found.bounds.size() == state.found.values.size(),
            path, "the checkpoint is damaged: its parts are of different lengths");
  });
  state.found.X = pencil.new_block("pairs", pairs);
  if (pairs > 0) reader.block(pencil.exec, state.found.X);
  reader.finish();
  return state;
}

}  // namespace blockspan::exact
