// What only CUDA has: products recorded as graphs, and matrices that only a device has room for.
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/spmm_dots.hpp>

#include "spmm/battery.hpp"
#include "spmm/reference.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/extended.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"

namespace blockspan::test {

#ifdef KOKKOS_ENABLE_CUDA

using Exec = Kokkos::Cuda;

/// A call recorded on the stream of an instance, to be launched any number of times.
class Recorded {
 public:
  template <class Call>
  Recorded(Exec const& exec, Call const& call) : exec_(exec) {
    cudaGraph_t graph = nullptr;
    unobserved([&] {
      cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal);
      call();
      cudaStreamEndCapture(exec.cuda_stream(), &graph);
    });
    good_ = graph != nullptr && cudaGraphInstantiate(&graph_, graph, 0) == cudaSuccess;
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  Recorded(Recorded const&) = delete;
  Recorded& operator=(Recorded const&) = delete;
  ~Recorded() {
    if (good_) cudaGraphExecDestroy(graph_);
  }

  bool launch() const {
    bool const launched = good_ && cudaGraphLaunch(graph_, exec_.cuda_stream()) == cudaSuccess;
    exec_.fence("Blockspan::test");
    return launched;
  }

 private:
  Exec exec_;
  cudaGraphExec_t graph_ = nullptr;
  bool good_ = false;
};

TEST(Graphs, AProductIsRecordedOnceAndReplayedWithOtherNumbers) {
  Exec const exec = halves(Exec())[1];
  auto const A = to_device(exec, arrow<double>(3000));
  for (auto const& variant : offered_variants<Exec>()) {
    SCOPED_TRACE(std::string(variant.id));
    SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 50});
    auto const X = make_block(exec, Storage::right, random_block<double>(3000, 8, 1));
    auto const Y = make_block(exec, Storage::right, random_block<double>(3000, 8, 2));
    auto const multiply = [&] { spmm(exec, plan, Op::none, 2.0, A, X.view, 0.0, Y.view); };
    multiply();  // makes its scratch
    exec.fence("Blockspan::test");
    Recorded const recorded(exec, multiply);
    for (int const seed : {3, 4}) {
      auto const other = make_block(exec, Storage::right, random_block<double>(3000, 8, seed));
      Kokkos::deep_copy(exec, X.view, other.view);
      multiply();
      auto const launched = Y.values();
      Kokkos::deep_copy(exec, Y.view, 7.0);
      ASSERT_TRUE(recorded.launch());
      EXPECT_TRUE(same_bits(Y.values(), launched));
    }
  }
}

/// Rows of `length` entries with small whole numbers for values: in an unsorted order, or sorted
/// and the same columns for eight neighbours.
struct LongRows {
  std::int64_t n, length;
  bool shared = false;

  KOKKOS_FUNCTION int column(std::int64_t i, std::int64_t k) const {
    std::int64_t const first = i / 8 * 8, last = n - length;
    if (shared) return static_cast<int>((first < last ? first : last) + k);
    return static_cast<int>((i * 5 + k * 8191) % n);
  }
  KOKKOS_FUNCTION double value(std::int64_t i, std::int64_t k) const {
    return static_cast<double>((i + 3 * k) % 7 - 3);
  }
  KOKKOS_FUNCTION double x(std::int64_t i, std::int64_t j) const {
    return static_cast<double>((i * 31 + j * 11) % 17 - 8);
  }
};

template <class View, class Value>
void fill(View const& view, Value const& value) {
  Kokkos::parallel_for(
      "Blockspan::test",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
          0, static_cast<std::int64_t>(view.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i) { view(i) = value(i); });
}

CrsMatrix<double, Exec, std::size_t> matrix_of(LongRows const& rows) {
  using Matrix = CrsMatrix<double, Exec, std::size_t>;
  auto const none = Kokkos::WithoutInitializing;
  auto const entries = static_cast<std::size_t>(rows.n * rows.length);
  typename Matrix::row_map_type::non_const_type const offsets(
      Kokkos::view_alloc(none, "Blockspan::test"), static_cast<std::size_t>(rows.n + 1));
  typename Matrix::index_type::non_const_type const columns(
      Kokkos::view_alloc(none, "Blockspan::test"), entries);
  typename Matrix::values_type::non_const_type const values(
      Kokkos::view_alloc(none, "Blockspan::test"), entries);
  std::int64_t const length = rows.length;
  fill(
      offsets, KOKKOS_LAMBDA(std::int64_t i) { return static_cast<std::size_t>(i * length); });
  fill(
      columns, KOKKOS_LAMBDA(std::int64_t e) { return rows.column(e / length, e % length); });
  fill(
      values, KOKKOS_LAMBDA(std::int64_t e) { return rows.value(e / length, e % length); });
  return Matrix("Blockspan::test", static_cast<int>(rows.n), static_cast<int>(rows.n), entries,
                values, offsets, columns);
}

/// X(i, j) = rows.x(i, j), row-major.
Block<double, Exec> vectors_of(LongRows const& rows, int width) {
  Block<double, Exec> const X("Blockspan::test", static_cast<std::size_t>(rows.n), width);
  Kokkos::View<double*, Exec> const flat(X.data(), X.size());
  fill(
      flat, KOKKOS_LAMBDA(std::int64_t e) { return rows.x(e / width, e % width); });
  return X;
}

// Sums of whole numbers are exact: no tolerance.
class LongRunHuge : public ::testing::TestWithParam<bool> {};

TEST_P(LongRunHuge, MoreThan2To31NonzerosAreMultipliedRight) {
  bool const shared = GetParam();
  LongRows const rows{std::int64_t{1} << 22, 513, shared};
  int const width = shared ? 8 : 4;
  std::size_t free = 0, all = 0;
  cudaMemGetInfo(&free, &all);
  if (free < (std::size_t{40} << 30)) GTEST_SKIP() << "needs a device with 40 GiB free";
  Exec const exec;
  auto const A = matrix_of(rows);
  ASSERT_GT(A.nnz(), std::size_t{1} << 31);
  auto const X = vectors_of(rows, width);
  Block<double, Exec> const Y("Blockspan::test", static_cast<std::size_t>(rows.n), width);
  for (std::string const id :
       {"auto", shared ? "groups" : "segments", shared ? "windows" : "merge"}) {
    SCOPED_TRACE(id);
    if (id == "windows" && !blockspan::multivector::tensor::available<Exec, double>) continue;
    SpmmPlan const plan(exec, A, {.algorithm = id});
    Kokkos::deep_copy(exec, Y, -1.0);
    spmm(exec, plan, Op::none, 1.0, A, X, 0.0, Y);
    exec.fence("Blockspan::test");
    auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
    // the last rows' entries lie beyond 2^31
    for (std::int64_t i = 0; i < rows.n; i += i + 200 < rows.n ? 9973 : 1)
      for (int j = 0; j < width; ++j) {
        double wanted = 0;
        for (std::int64_t k = 0; k < rows.length; ++k)
          wanted += rows.value(i, k) * rows.x(rows.column(i, k), j);
        ASSERT_EQ(y(i, j), wanted) << i << ", " << j;
      }
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, LongRunHuge, ::testing::Bool(), [](auto const& test) {
  return test.param ? "ThatShareColumns" : "Unsorted";
});

#else

TEST(Graphs, NeedCuda) { GTEST_SKIP() << "needs CUDA"; }

#endif

}  // namespace blockspan::test
