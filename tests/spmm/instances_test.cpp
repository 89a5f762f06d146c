// One plan serves two instances at once: each has scratch and handles of its own, and what one of
// them computes does not depend on the other.
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/published/kernels/gemm.hpp>
#include <blockspan/spmm/prepared/row_panels.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/support/backend.hpp>

#include "spmm/battery.hpp"
#include "spmm/launches.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Field;

/// Two instances that may compute at once; none where the backend has one only.
template <class Exec>
std::vector<Exec> two_instances() {
  Exec const exec;
  bool const one_thread = exec.concurrency() < 2;
  if (one_thread && std::string(Exec::name()) == "OpenMP") return {};  // it would abort
  auto const instances = halves(exec);
  if (instances[0] == instances[1]) return {};
  return {instances[0], instances[1]};
}

/// What is multiplied, on both instances but with blocks and widths of their own.
struct Course {
  HostMatrix<double> const& A;
  SpmmPlanOptions options = {};
  Storage storage = Storage::right;
  bool transposes = false;  ///< every other product
  bool dots = false;        ///< spmm_dots instead of spmm
};

/// The products of one instance: memory that no other product has.
template <class Exec>
class Products {
 public:
  static constexpr int count = 6;

  Products(Exec const& exec, Course const& course, int which) : exec_(exec), course_(course) {
    int const columns = which == 0 ? 16 : 12;
    for (int i = 0; i < count; ++i) {
      auto const block = [&](std::uint64_t seed) {
        return make_block(exec, course.storage,
                          random_block<double>(course.A.rows, columns, seed + 2 * i + 20 * which));
      };
      X_.push_back(block(1));
      Y_.push_back(block(2));
      dots_.emplace_back("Blockspan::test", 2, columns);
    }
  }

  /// Queues the i-th.
  template <class Plan, class Matrix>
  void run(Plan const& plan, Matrix const& A, int i) const {
    auto const index = static_cast<std::size_t>(i);
    double const beta = i % 3 == 0 ? 0 : -0.5;
    auto const& X = X_[index].view;
    auto const& Y = Y_[index].view;
    if (course_.dots)
      spmm_dots(exec_, plan, 1.5, A, X, beta, Y, Kokkos::subview(dots_[index], 0, Kokkos::ALL),
                Kokkos::subview(dots_[index], 1, Kokkos::ALL));
    else
      spmm(exec_, plan, course_.transposes && i % 2 == 1 ? Op::transpose : Op::none, 1.5, A, X,
           beta, Y);
  }

  void fence() const { exec_.fence("Blockspan::test"); }

  /// All that was written.
  std::vector<HostBlock<double>> results() const {
    std::vector<HostBlock<double>> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(Y_[i].values());
      auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dots_[i]);
      HostBlock<double> sums(2, static_cast<std::int64_t>(dots.extent(1)));
      for (int q = 0; q < 2; ++q)
        for (int j = 0; j < sums.columns(); ++j) sums(q, j) = dots(q, j);
      all.push_back(sums);
    }
    return all;
  }

 private:
  using Sums = Kokkos::View<double**, Kokkos::LayoutRight, typename Exec::memory_space>;

  Exec exec_;
  Course const& course_;
  std::vector<TestBlock<double, Exec>> X_, Y_;
  std::vector<Sums> dots_;
};

/// The same on the default instance, one after the other, with a plan of their own.
template <class Exec, class Matrix>
std::vector<HostBlock<double>> alone(Course const& course, Matrix const& A, int which) {
  Exec const exec;
  SpmmPlan const plan(exec, A, course.options);
  Products<Exec> const products(exec, course, which);
  for (int i = 0; i < products.count; ++i) {
    products.run(plan, A, i);
    products.fence();
  }
  return products.results();
}

template <class Exec, class Matrix>
void expect_as_alone(Products<Exec> const& products, Course const& course, Matrix const& A,
                     int which) {
  products.fence();
  auto const actual = products.results(), wanted = alone<Exec>(course, A, which);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(same_bits(actual[i], wanted[i]))
        << "instance " << which << (i % 2 == 0 ? ", product " : ", sums of product ") << i / 2;
}

template <class Exec>
class Instances : public ::testing::Test {
 public:
  std::vector<Exec> const instances = two_instances<Exec>();

  /// Queues products on both in turn, and waits for nothing before the last one.
  void interleave(Course const& course) {
    auto const A = to_device(Exec(), course.A);
    SpmmPlan const plan(Exec(), A, course.options);
    Products<Exec> const first(instances[0], course, 0), second(instances[1], course, 1);
    for (int i = 0; i < first.count; ++i) {
      first.run(plan, A, i);
      second.run(plan, A, i);
    }
    expect_as_alone(first, course, A, 0);
    expect_as_alone(second, course, A, 1);
  }

  /// What the first product of such a course launches.
  std::vector<Launch> launches(Course const& course) {
    auto const A = to_device(Exec(), course.A);
    SpmmPlan const plan(Exec(), A, course.options);
    Products<Exec> const products(Exec(), course, 0);
    auto const seen = launches_of([&] { products.run(plan, A, 0); });
    products.fence();
    return seen;
  }
};
TYPED_TEST_SUITE(Instances, Backends, ConfigNames);

#define BLOCKSPAN_NEEDS_TWO_INSTANCES \
  if (this->instances.empty()) GTEST_SKIP() << "this backend has one instance only"

HostMatrix<double> uneven() {
  return random_matrix<double>("uneven", 20000, 20000,
                               [](std::int64_t i) { return i % 50 == 7 ? 800 : 25; });
}

SpmmPlanOptions const in_segments{.algorithm = "segments", .segment_length = 64};

TYPED_TEST(Instances, ShareNoSumsOfCutRows) {
  BLOCKSPAN_NEEDS_TWO_INSTANCES;
  auto const host = uneven();
  TypeParam const exec;
  SpmmPlan const plan(exec, to_device(exec, host), in_segments);
  EXPECT_EQ(plan.panels().first().plain.list.cut_rows, 400);
  this->interleave({host, in_segments, Storage::right, true});
  this->interleave({host, {.algorithm = "merge"}});
}

TYPED_TEST(Instances, ShareNoCopiesOfColumnMajorBlocks) {
  BLOCKSPAN_NEEDS_TWO_INSTANCES;
  auto const host = uneven();
  Course const course{host, {}, Storage::left, true};
  EXPECT_THAT(this->launches(course), Contains(Field(&Launch::label, EndsWith("::pack"))));
  if (!on_host_v<TypeParam>) {
    EXPECT_THAT(this->launches(course), Contains(Field(&Launch::label, EndsWith("::unpack"))));
  }
  this->interleave(course);
}

TYPED_TEST(Instances, ShareNoHandlesOfABlas) {
  BLOCKSPAN_NEEDS_TWO_INSTANCES;
  if (!blockspan::published::has_gemm_v<TypeParam>) GTEST_SKIP() << "this backend has no BLAS";
  auto const host = random_matrix<double>("random", 700, 700, [](std::int64_t) { return 90; });
  this->interleave({host, {.algorithm = "dense"}, Storage::right, true});
}

TYPED_TEST(Instances, ShareNoSumsOfProducts) {
  BLOCKSPAN_NEEDS_TWO_INSTANCES;
  auto const host = uneven();
  Course const fused{host, in_segments, Storage::right, false, true};
  if (blockspan::support::on_cuda_v<TypeParam>) {
    EXPECT_THAT(this->launches(fused),
                Contains(Field(&Launch::label, "Blockspan::spmm::segments::dots")));
  }
  this->interleave(fused);
  Course const separate{host, {.algorithm = "merge"}, Storage::right, false, true};
  EXPECT_THAT(this->launches(separate),
              Contains(Field(&Launch::label, "Blockspan::spmm_dots::separate")));
  this->interleave(separate);
}

/// A host's product is done when its call returns: two at once take two threads.
TYPED_TEST(Instances, OfAHostServeAThreadEach) {
  BLOCKSPAN_NEEDS_TWO_INSTANCES;
  if (!on_host_v<TypeParam>) GTEST_SKIP() << "products of one thread are at once here";
  auto const host = uneven();
  for (Course const& course :
       {Course{host, in_segments, Storage::right, true}, Course{host, {}, Storage::left, true},
        Course{host, in_segments, Storage::right, false, true}}) {
    auto const A = to_device(TypeParam(), host);
    SpmmPlan const plan(TypeParam(), A, course.options);
    Products<TypeParam> const first(this->instances[0], course, 0);
    Products<TypeParam> const second(this->instances[1], course, 1);
    auto const run_all = [&](auto const& products) {
      for (int i = 0; i < products.count; ++i) products.run(plan, A, i);
    };
    std::thread other([&] { run_all(second); });
    run_all(first);
    other.join();
    expect_as_alone(first, course, A, 0);
    expect_as_alone(second, course, A, 1);
  }
}

}  // namespace
}  // namespace blockspan::test
