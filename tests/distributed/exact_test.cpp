// Exact eigenpairs over ranks: what one rank finds, bit by bit, and failures of rank 0 on all.
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/factored_pencil.hpp>
#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/lowest_pairs.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Config>
class ExactOnRanks : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Rows = DistributedMatrix<Value, Exec>;
  using Shared = std::shared_ptr<Rows const>;
  Exec const exec;

  struct Pencil {
    Shared K, M;  ///< M: perhaps null
  };
  using Make = std::function<Pencil(Communicator const&)>;

  Pencil generated(Communicator const& ranks, std::string const& spec) const {
    return {generate_distributed<Value>(exec, ranks, spec), nullptr};
  }
  /// A ring of n rows whose neighbours are coupled by -phase, complex where Value is, with a mass
  /// that every third row lacks.
  Pencil massless_ring(Communicator const& ranks, int n) const {
    std::vector<std::vector<std::pair<int, Value>>> k(n), m(n);
    Value const phase = [] {
      if constexpr (is_complex_v<Value>) return Value(0.6, 0.8);
      return Value(1);
    }();
    for (int i = 0; i < n; ++i) {
      k[i] = {{i, Value(3)}, {(i + 1) % n, -phase}, {(i + n - 1) % n, -conjugate(phase)}};
      if (i % 3 != 0) m[i] = {{i, Value(1 + i % 2)}};
    }
    auto const K = distribute(exec, ranks, matrix(k));
    return {K, distribute(exec, ranks, matrix(m), &K->partition())};
  }
  /// The first row is coupled to `far` rows.
  Pencil star(Communicator const& ranks, int n, int far) const {
    std::vector<std::vector<std::pair<int, Value>>> rows(n);
    for (int i = 0; i < n; ++i) rows[i].push_back({i, Value(2 + i % 7)});
    for (int i = n - far; i < n; ++i) {
      rows[i].push_back({0, Value(0.1)});
      rows[0].push_back({i, Value(0.1)});
    }
    return {distribute(exec, ranks, matrix(rows)), nullptr};
  }
  /// With these entries in the diagonal.
  Shared diagonal(Communicator const& ranks, std::vector<double> const& entries) const {
    std::vector<std::vector<std::pair<int, Value>>> rows;
    for (double const entry : entries) rows.push_back({{static_cast<int>(rows.size()), entry}});
    return distribute(exec, ranks, matrix(rows));
  }
  Block<Value, Exec> vectors(Pencil const& pencil, int columns) const {
    return Block<Value, Exec>("X", static_cast<std::size_t>(pencil.K->local_rows()), columns);
  }

  /// All that a report says of its problem, and the vectors.
  static std::vector<double> numbers_of(ExactReport const& report, Pencil const& pencil,
                                        Block<Value, Exec> const& X) {
    std::vector<double> numbers{double(report.status),
                                double(report.proof),
                                report.from,
                                report.to,
                                double(report.found),
                                double(report.steps),
                                double(report.counted),
                                report.norm_k,
                                report.norm_m};
    for (auto const* const list : {&report.eigenvalues, &report.backward_errors,
                                   &report.error_bounds, &report.certain_digits})
      numbers.insert(numbers.end(), list->begin(), list->end());
    for (auto const& count : report.counts)
      for (double const number : {count.shift, double(count.count), count.rho, count.inverse})
        numbers.push_back(number);
    auto const of_vectors = numbers_of(pencil, X);
    numbers.insert(numbers.end(), of_vectors.begin(), of_vectors.end());
    return numbers;
  }
  /// The rows of all ranks.
  static std::vector<double> numbers_of(Pencil const& pencil, Block<Value, Exec> const& X) {
    auto const whole = whole_block(pencil.K->row_space(), X);
    auto const* const values = reinterpret_cast<double const*>(whole.data());
    return {values, values + whole.size() * sizeof(Value) / sizeof(double)};
  }
  std::vector<double> near(Pencil const& pencil, double sigma, ExactOptions const& options) const {
    auto const X = vectors(pencil, options.pairs);
    auto const report = eigenpairs_near(exec, *pencil.K, pencil.M.get(), sigma, X, options);
    EXPECT_EQ(report.status, Status::converged) << report.trouble;
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    return numbers_of(report, pencil, X);
  }
  std::vector<double> inside(Pencil const& pencil, double a, double b,
                             ExactOptions const& options = {}) const {
    Block<Value, Exec> X;
    auto const report = eigenpairs_in(exec, *pencil.K, pencil.M.get(), a, b, X, options);
    EXPECT_EQ(report.status, Status::converged) << report.trouble;
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    return numbers_of(report, pencil, X);
  }
  /// The same numbers of one rank and of all, on all.
  template <class Numbers>
  void expect_same(Make const& make, Numbers const& numbers) const {
    auto const wanted = numbers(make(Communicator())), found = numbers(make(world()));
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], wanted[i]) << i;
  }
  /// What each of them says is what rank 0 says, which names it.
  template <class Function>
  void expect_refusal(Function const& f, std::string const& words) const {
    std::string const said = message_of(f);
    EXPECT_THAT(said, HasSubstr(words));
    EXPECT_EQ(world().words_of_first(said), said);
  }

 private:
  static CrsMatrix<Value, Exec> matrix(
      std::vector<std::vector<std::pair<int, Value>>> const& rows) {
    auto const n = rows.size();
    typename CrsMatrix<Value, Exec>::row_map_type::non_const_type const offsets("offsets", n + 1);
    std::vector<std::pair<int, Value>> all;
    for (std::size_t i = 0; i < n; ++i) {
      all.insert(all.end(), rows[i].begin(), rows[i].end());
      offsets(i + 1) = static_cast<int>(all.size());
    }
    typename CrsMatrix<Value, Exec>::index_type::non_const_type const columns("c", all.size());
    typename CrsMatrix<Value, Exec>::values_type const values("v", all.size());
    for (std::size_t e = 0; e < all.size(); ++e)
      columns(e) = all[e].first, values(e) = all[e].second;
    int const order = static_cast<int>(n);
    return {"matrix", order, order, static_cast<int>(all.size()), values, offsets, columns};
  }
};
TYPED_TEST_SUITE(ExactOnRanks, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(ExactOnRanks, PairsNearAShiftHaveTheBitsOfOneRank) {
  auto const compare = [&](std::string const& spec, double sigma) {
    this->expect_same([&](auto const& ranks) { return this->generated(ranks, spec); },
                      [&](auto const& pencil) { return this->near(pencil, sigma, {.pairs = 9}); });
  };
  compare("laplace7:12x11x10", 1.3), compare("elasticity:6", 0);
}

TYPED_TEST(ExactOnRanks, MassesMayBeSingular) {
  auto const make = [&](auto const& ranks) { return this->massless_ring(ranks, 900); };
  this->expect_same(
      make, [&](auto const& pencil) { return this->near(pencil, 0.9, {.pairs = 7, .block = 4}); });
}

TYPED_TEST(ExactOnRanks, CountsHaveTheBitsOfOneRank) {
  auto const make = [&](auto const& ranks) { return this->generated(ranks, "laplace7:9x8x7"); };
  this->expect_same(make, [&](auto const& pencil) {
    auto const count = count_eigenvalues(this->exec, *pencil.K, nullptr, 1.1, 1.9);
    EXPECT_TRUE(count.trusted);
    return std::vector<double>{double(count.number), count.from.rho, count.to.rho};
  });
}

TYPED_TEST(ExactOnRanks, SmallestPairsByFactorsHaveTheBitsOfOneRank) {
  auto const make = [&](auto const& ranks) { return this->generated(ranks, "laplace7:9x8x7"); };
  this->expect_same(make, [&](auto const& pencil) {
    auto const found =
        lowest_pairs_by_factors(this->exec, *pencil.K, nullptr, {.pairs = 40, .digits = 4}, {});
    EXPECT_TRUE(found.report) << found.note << found.reason;
    EXPECT_THAT(found.reason, HasSubstr("40 pairs"));
    return this->numbers_of(*found.report, pencil, found.X);
  });
  auto const pencil = make(world());
  ExactOptions options;
  options.memory_limit = 1;
  auto const found =
      lowest_pairs_by_factors(this->exec, *pencil.K, nullptr, {.pairs = 40}, options);
  EXPECT_FALSE(found.report);
  EXPECT_THAT(found.note, AllOf(HasSubstr("not by factors: "), HasSubstr("out of memory")));
  EXPECT_EQ(world().words_of_first(found.note), found.note);
}

/// A plan of a rank's rows would cut the long one, that of all rows would not.
TYPED_TEST(ExactOnRanks, ProductsHaveTheBitsOfOneRank) {
  using Scalar = typename TestFixture::Value;
  this->expect_same([&](auto const& ranks) { return this->star(ranks, 43000, 17000); },
                    [&](auto const& pencil) {
                      auto const plan = operators::pencil_plan<Exec>(8);
                      DistributedOperator<Scalar, Exec> const K(this->exec, pencil.K, plan);
                      auto const X = this->vectors(pencil, 8), Y = this->vectors(pencil, 8);
                      fill_random(this->exec, X, 1, 0, K.row_space().first_row());
                      K.apply(this->exec, X, Y);
                      return this->numbers_of(pencil, Y);
                    });
}

/// Ranks without rows, and cuts between the chunks of sums: other bits, the same pairs.
TYPED_TEST(ExactOnRanks, RowsMayBeCutAnywhere) {
  using Scalar = typename TestFixture::Value;
  auto const near = [&](Communicator const& ranks, RowPartition const* like) {
    auto const K = generate_distributed<Scalar>(this->exec, ranks, "laplace7:12x11x10", like);
    auto const X = this->vectors({K, nullptr}, 5);
    return eigenpairs_near(this->exec, *K, nullptr, 1.3, X, {.pairs = 5});
  };
  RowPartition const odd(odd_cuts(1320));
  auto const one = near(Communicator(), nullptr), all = near(world(), &odd);
  EXPECT_EQ(all.proof, Proof::proved);
  ASSERT_EQ(all.eigenvalues.size(), 5u);
  for (int j = 0; j < 5; ++j) EXPECT_NEAR(all.eigenvalues[j], one.eigenvalues[j], 1e-12);
}

TYPED_TEST(ExactOnRanks, AnIntervalGoesOnFromTheFileOfAnyNumberOfRanks) {
  auto const path = "exact_on_" + std::to_string(world().size()) + "_ranks";
  auto const make = [&](auto const& ranks) { return this->generated(ranks, "laplace7:9x8x7"); };
  auto const unbroken = this->inside(make(Communicator()), 1.1, 2.9, {.slice = 10});
  EXPECT_EQ(this->inside(make(world()), 1.1, 2.9, {.slice = 10}), unbroken);
  ExactOptions options{.slice = 10};
  options.checkpoint = path;
  int steps = 0;
  if (world().rank() == world().size() - 1)  // the others have no monitor
    options.monitor = [&](ExactProgress const&) { return ++steps < 12; };
  Block<typename TestFixture::Value, Exec> X;
  auto const pencil = make(world());
  auto const report = eigenpairs_in(this->exec, *pencil.K, nullptr, 1.1, 2.9, X, options);
  EXPECT_EQ(report.status, Status::stopped_by_monitor);
  EXPECT_EQ(report.checkpoint_fault, "");
  ExactOptions on{.slice = 10};
  on.resume = path;
  EXPECT_EQ(this->inside(pencil, 1.1, 2.9, on), unbroken);
  if (world().rank() == 0) {
    EXPECT_EQ(this->inside(make(Communicator()), 1.1, 2.9, on), unbroken);
  }
  world().sum(0);
  if (world().rank() == 0) std::remove(path.c_str());
}

TYPED_TEST(ExactOnRanks, StatusesAreThoseOfAllRanks) {
  std::vector<double> k(3000), m(3000, 1.0);
  for (int i = 0; i < 3000; ++i) k[i] = i + 1;
  auto const X = this->vectors({this->diagonal(world(), k), nullptr}, 3);
  auto const near = [&](double sigma, ExactOptions const& options = {.pairs = 3}) {
    auto const K = this->diagonal(world(), k), M = this->diagonal(world(), m);
    auto const report = eigenpairs_near(this->exec, *K, M.get(), sigma, X, options);
    EXPECT_EQ(world().words_of_first(report.trouble), report.trouble);
    return report.status;
  };
  int const last = world().size() - 1;
  ExactOptions limited{.pairs = 3};
  if (world().rank() == last) limited.time_limit = 1e-9;
  EXPECT_EQ(near(7.3, limited), Status::time_limit);
  k[2100] = m[2100] = 0;
  EXPECT_EQ(near(7.3), Status::singular_pencil);
  k[2100] = 1, m[2100] = -1;
  EXPECT_EQ(near(7.3), Status::mass_not_positive_definite);
}

/// Factors that go wrong after a while.
class FailingFactors final : public operators::PencilFactors {
 public:
  enum class Way { throws, not_a_number, uncountable };
  FailingFactors(std::unique_ptr<PencilFactors> truth, Way way)
      : truth_(std::move(truth)), way_(way) {}

  ShiftCount factor(double shift) override {
    auto count = truth_->factor(shift);
    if (way_ == Way::uncountable) count.trusted = false, count.rho = 1;
    return count;
  }
  void solve(double* B, std::int64_t columns) const override {
    truth_->solve(B, columns);
    if (way_ == Way::uncountable || ++solves_ < 3) return;
    require(way_ != Way::throws, "factors", "the disk is full");
    B[7] = std::numeric_limits<double>::quiet_NaN();
  }
  std::int64_t rows() const override { return truth_->rows(); }
  std::vector<std::int64_t> null_rows() const override { return truth_->null_rows(); }
  std::string library() const override { return "of a test"; }
  double scaled_size() const override { return truth_->scaled_size(); }
  double norm_k() const override { return truth_->norm_k(); }
  double norm_m() const override { return truth_->norm_m(); }
  bool massless_rows() const override { return truth_->massless_rows(); }
  std::vector<double> energies(double const* X, std::vector<double> const& values) const override {
    return truth_->energies(X, values);
  }
  std::vector<double> scaled_squares(double const* R, std::int64_t columns) const override {
    return truth_->scaled_squares(R, columns);
  }
  std::int64_t factor_entries() const override { return truth_->factor_entries(); }
  std::int64_t bytes() const override { return truth_->bytes(); }
  double flops() const override { return truth_->flops(); }

 private:
  std::unique_ptr<PencilFactors> truth_;
  Way way_;
  mutable int solves_ = 0;
};

TYPED_TEST(ExactOnRanks, TroubleOfTheFactorsIsThatOfAllRanks) {
  using Scalar = typename TestFixture::Value;
  using Way = FailingFactors::Way;
  auto const pencil = this->generated(world(), "laplace7:12x11x10");
  auto const made = factored_pencil(this->exec, *pencil.K, nullptr, {});
  auto const near = [&](Way way) {
    distributed::FactorsOnRankZero<Scalar, Exec> factors(this->exec, pencil.K->row_space(), [&] {
      auto whole = factored_pencil(this->exec, generate<Scalar>(this->exec, "laplace7:12x11x10"),
                                   nullptr, {.products = false});
      whole.factors = std::make_unique<FailingFactors>(std::move(whole.factors), way);
      return whole;
    });
    EXPECT_EQ(factors.library(), "of a test of rank 0");
    auto const report = exact::near<Scalar, Exec>(this->exec, *made.K, nullptr, factors, 1.3,
                                                  this->vectors(pencil, 5), {.pairs = 5});
    EXPECT_EQ(world().words_of_first(report.trouble), report.trouble);
    return std::pair(report.status, report.proof);
  };
  this->expect_refusal([&] { near(Way::throws); }, "the disk is full");
  EXPECT_EQ(near(Way::not_a_number).first, Status::operator_not_finite);
  EXPECT_EQ(near(Way::uncountable), std::pair(Status::converged, Proof::uncountable));
}

TYPED_TEST(ExactOnRanks, ErrorsOfRankZeroAreThoseOfAllRanks) {
  auto const large = this->generated(world(), "laplace7:20");
  auto const X = this->vectors(large, 10);
  auto const near = [&](auto const& K, double sigma, ExactOptions const& options = {}) {
    eigenpairs_near(this->exec, K, nullptr, sigma, X, options);
  };
  this->expect_refusal([&] { near(*large.K, 1, {.memory_limit = 1000000}); }, "bytes");
  this->expect_refusal([&] { near(*large.K, 1, {.factors = FactorPlace::device}); }, "device");
  this->expect_refusal([&] { near(*large.K, 1, {.pairs = 0}); }, "pairs is 0");
  double const nan = std::numeric_limits<double>::quiet_NaN();
  this->expect_refusal([&] { near(*large.K, nan); }, "the shift is");
  std::vector<double> entries(3000, 1.0);
  entries[2900] = nan;
  auto const K = this->diagonal(world(), entries);
  this->expect_refusal([&] { count_eigenvalues(this->exec, *K, nullptr, 0.1, 2.0); },
                       "NaN in row 2901");
}

}  // namespace
}  // namespace blockspan::test
