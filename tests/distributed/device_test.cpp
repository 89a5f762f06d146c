// Ranks whose devices have a transport of their own (DeviceTransport): products, sums and solves
// have the bits of the way by the host. With CUDA that is NCCL; hosts have one that goes by MPI.
#include <string>
#include <vector>

#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/devices.hpp"
#include "support/grid_spectrum.hpp"
#include "support/observed.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TYPED_TEST_SUITE(OnDevices, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(OnDevices, ProductsHaveTheBitsOfTheWayByTheHost) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : {"laplace7:18x17x16", "fixed:3000x3000:9", "laplace5:80x70"}) {
    auto const host = distributed_operator(this->exec, this->parts(world(), spec));
    auto const device = distributed_operator(this->exec, this->parts(this->devices, spec));
    EXPECT_TRUE(device.facts().replayable);
    EXPECT_EQ(host.facts().replayable, world().size() == 1);
    for (Op const op : {Op::none, Op::transpose, Op::adjoint})
      for (int const k : {1, 5, 8, 33}) {
        auto const X = this->random(host.row_space(), host.rows(), k, 1);
        auto const y = this->random(host.row_space(), host.rows(), k, 2);
        auto const z = this->random(host.row_space(), host.rows(), k, 2);
        for (int run = 0; run < 3; ++run) {  // the second reads what the first has left behind
          spmm(this->exec, op, S(1.5), host, X, S(-0.5), y);
          spmm(this->exec, op, S(1.5), device, X, S(-0.5), z);
          EXPECT_EQ(on_host(z), on_host(y)) << spec << ", " << to_string(op) << ", " << k;
        }
      }
  }
}

TYPED_TEST(OnDevices, ProductsAreThoseOfOneRank) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : {"laplace7:18x17x16", "rmat:11:4:symmetric"}) {
    auto const matrix = this->parts(this->devices, spec);
    auto const all = distributed_operator(this->exec, matrix);
    MatrixOperator<S, Exec> const one(this->exec, generate<S>(this->exec, spec), {});
    int const k = 6;
    auto const X = this->random({}, one.rows(), k, 1), Y = this->random({}, one.rows(), k, 2);
    auto const x = this->random(all.row_space(), all.rows(), k, 1);
    auto const y = this->random(all.row_space(), all.rows(), k, 2);
    one.apply(this->exec, X, Y);
    all.apply(this->exec, x, y);
    auto const wanted = on_host(Y), found = on_host(y);
    double const terms = static_cast<double>(*all.facts().terms_per_row);
    double const bound = 2 * unit_roundoff<S> * 2 * terms * *one.facts().norm_bound;
    auto const first = static_cast<std::size_t>(all.row_space().first_row() * k);
    for (std::size_t e = 0; e < found.size(); ++e)
      ASSERT_LE(Kokkos::abs(S(found[e] - wanted[first + e])), bound) << spec << ", " << e;
  }
}

/// The steps of a polynomial, in the kernel of the product where the backend has that.
TYPED_TEST(OnDevices, ChebyshevAgreesWithOneRank) {
  using S = typename TypeParam::Scalar;
  std::string const spec = "laplace7:24x23x22";
  auto const matrix = this->parts(this->devices, spec);
  auto const all = distributed_operator(this->exec, matrix);
  auto const A = generate<S>(this->exec, spec);
  MatrixOperator<S, Exec> const one(this->exec, A, {});
  ChebyshevOptions const options{.degree = 6};
  auto const D = jacobi(this->exec, A), d = jacobi(this->exec, matrix->diagonal_block(this->exec));
  auto const setup = chebyshev_setup<S, Exec>(this->exec, one, D.factors(), options);
  auto local_setup = chebyshev_setup<S, Exec>(this->exec, all, d.factors(), options);
  EXPECT_NEAR(local_setup.upper, setup.upper, 1e-10 * setup.upper);
  local_setup.upper = setup.upper;  // the same polynomial, to the bit
  auto const T = chebyshev<S, Exec>(one, setup, options);
  auto const t = chebyshev<S, Exec>(all, local_setup, options);
  for (int const k : {1, 6, 16}) {
    auto const X = this->random({}, one.rows(), k, 1), Y = this->random({}, one.rows(), k, 2);
    auto const x = this->random(all.row_space(), all.rows(), k, 1);
    auto const y = this->random(all.row_space(), all.rows(), k, 2);
    T.apply(this->exec, X, Y), t.apply(this->exec, x, y);
    auto const wanted = on_host(Y), found = on_host(y);
    auto const first = static_cast<std::size_t>(all.row_space().first_row() * k);
    // five steps of 11 rounded terms below 4 in magnitude, twice
    double const bound = 2 * 5 * 11 * 4 * unit_roundoff<S>;
    for (std::size_t e = 0; e < found.size(); ++e)
      ASSERT_LE(Kokkos::abs(S(found[e] - wanted[first + e])), bound) << k << ", " << e;
  }
}

template <class Scalar>
struct SumsOfColumn {
  Scalar dot{};
  double square = 0, size = 0, square_size = 0;
  friend SumsOfColumn operator+(SumsOfColumn const& a, SumsOfColumn const& b) {
    return {a.dot + b.dot, a.square + b.square, a.size + b.size, a.square_size + b.square_size};
  }
};

/// apply_dots, without squares, against a product and sums of their own.
template <class S>
void expect_sums_as_operator(Exec const& exec, DistributedOperator<S, Exec> const& A,
                             Block<S, Exec> const& X, double gamma) {
  auto const k = X.extent(1);
  Block<S, Exec> const Y("Y", X.extent(0), k), Z("Z", X.extent(0), k);
  Kokkos::View<S*, Exec> const alone("alone", k);
  if (!A.apply_dots(exec, X, Z, {}, alone, {})) {
    EXPECT_TRUE(blockspan::support::runs_on_host_v<Exec>);
    return;
  }
  A.apply(exec, X, Y);
  EXPECT_EQ(on_host(Z), on_host(Y));
  Kokkos::View<S*, Kokkos::HostSpace> const separate("separate", k);
  column_dots(exec, X, Y, separate);
  auto const sums = on_host(alone);
  auto const rows = static_cast<double>(A.matrix().partition().global_rows());
  for (std::size_t j = 0; j < k; ++j)
    EXPECT_LE(Kokkos::abs(S(sums[j] - separate(j))), gamma * 2 * rows * *A.facts().norm_bound) << j;
}

/// With CUDA the kernels of all parts make them, those of the ends behind the exchange.
TYPED_TEST(OnDevices, SumsOfProductsHaveTheBitsOfTheWayByTheHost) {
  using S = typename TypeParam::Scalar;
  using Reals = Kokkos::View<double*, Exec>;
  for (std::string const spec : {"laplace7:18x17x16", "fixed:3000x3000:9", "laplace5:80x70"}) {
    auto const host = distributed_operator(this->exec, this->parts(world(), spec));
    auto const device = distributed_operator(this->exec, this->parts(this->devices, spec));
    auto const local = static_cast<std::size_t>(host.rows());
    Kokkos::View<double**, Kokkos::LayoutRight, Exec> const random_weights("weights", local, 1);
    fill_random(this->exec, random_weights, 7, 0, host.row_space().first_row());
    auto const weights = Kokkos::subview(random_weights, Kokkos::ALL, 0);
    for (int const k : {8, 5, 1, 33})
      for (S const beta : {S(0), S(-0.5)}) {
        SCOPED_TRACE(spec + ", " + std::to_string(k));
        auto const X = this->random(host.row_space(), host.rows(), k, 1);
        auto const y = this->random(host.row_space(), host.rows(), k, 2);
        auto const z = this->random(host.row_space(), host.rows(), k, 2);
        Kokkos::View<S*, Exec> const by_host("by_host", k), by_device("by_device", k);
        Reals const squares_by_host("squares", k), squares_by_device("squares", k);
        auto const seen = observed([&] {
          for (int run = 0; run < 2; ++run) {
            spmm_dots(this->exec, S(1.5), host, X, beta, y, by_host, squares_by_host, weights);
            spmm_dots(this->exec, S(1.5), device, X, beta, z, by_device, squares_by_device,
                      weights);
          }
        });
        if (k == 8 && blockspan::support::on_cuda_v<Exec>) {
          EXPECT_THAT(seen.labels, Contains(HasSubstr("::dots")));
          EXPECT_THAT(seen.labels, Not(Contains("Blockspan::spmm_dots::separate")));
        }
        auto const dots = on_host(by_device), found = on_host(z), x = on_host(X);
        auto const squares = on_host(squares_by_device), w = on_host(weights);
        EXPECT_EQ(found, on_host(y));
        EXPECT_EQ(dots, on_host(by_host));
        EXPECT_EQ(squares, on_host(squares_by_host));
        // against sums row by row, whose order is another one
        double const gamma = 4 * unit_roundoff<S> *
                             static_cast<double>(device.matrix().partition().global_rows() + 3);
        for (std::size_t j = 0; j < dots.size(); ++j) {
          SumsOfColumn<S> mine;
          for (std::size_t i = 0; i < local; ++i) {
            auto const a = x[i * dots.size() + j], b = found[i * dots.size() + j];
            double const size = Kokkos::abs(b);
            mine = mine + SumsOfColumn<S>{blockspan::conjugate(a) * b, w[i] * size * size,
                                          Kokkos::abs(a) * size, std::abs(w[i]) * size * size};
          }
          auto const all = world().sum(mine);
          EXPECT_LE(Kokkos::abs(S(dots[j] - all.dot)), gamma * all.size) << j;
          EXPECT_LE(std::abs(squares[j] - all.square), gamma * all.square_size) << j;
        }
        expect_sums_as_operator(this->exec, device, X, gamma);
      }
  }
}

TYPED_TEST(OnDevices, SumsHaveTheBitsOfTheWayByTheHost) {
  using S = typename TypeParam::Scalar;
  auto const host = this->parts(world(), "laplace5:300x280")->row_space();
  auto const device = this->parts(this->devices, "laplace5:300x280")->row_space();
  EXPECT_EQ(device.device_sums() != nullptr, world().size() > 1);
  EXPECT_EQ(host.device_sums(), nullptr);
  Workspace<Exec> by_host(host), by_device(device);
  auto const [first, last] = host.range(world().rank(), 300 * 280);
  for (int const k : {1, 3, 8, 20}) {
    auto const X = this->random(host, last - first, k, 1),
               Y = this->random(host, last - first, k, 2);
    Kokkos::View<double*, Kokkos::HostSpace> const N("N", k), n("n", k);
    column_norms(this->exec, X, N, by_host), column_norms(this->exec, X, n, by_device);
    EXPECT_EQ(entries(n), entries(N)) << k;
    Kokkos::View<S*, Kokkos::HostSpace> const D("D", k), d("d", k);
    column_dots(this->exec, X, Y, D, by_host), column_dots(this->exec, X, Y, d, by_device);
    EXPECT_EQ(entries(d), entries(D)) << k;
    Kokkos::View<S**, Kokkos::LayoutLeft, Kokkos::HostSpace> const G("G", k, k), g("g", k, k);
    gram(this->exec, X, Y, G, by_host), gram(this->exec, X, Y, g, by_device);
    EXPECT_EQ(entries(g), entries(G)) << k;
  }
}

/// What kernels of devices make of all rows of a rank; on hosts nothing else takes this way.
TYPED_TEST(OnDevices, GramMatricesAreAddedTogether) {
  using S = typename TypeParam::Scalar;
  using Small = Kokkos::View<S**, Kokkos::LayoutLeft, Exec>;
  auto const host = this->parts(world(), "laplace5:30x28")->row_space();
  auto const device = this->parts(this->devices, "laplace5:30x28")->row_space();
  auto const [first, last] = host.range(world().rank(), 30 * 28);
  auto const sums = [&](RowSpace const& space) {
    Workspace<Exec> workspace(space);
    auto const A = this->random({}, 7, 5, 1), B = this->random({}, 3, 2, 2);
    Small const G("G", 7, 5), H("H", 3, 2);
    blockspan::blocks::GramsOverRanks<Exec, S, 2> const grams(
        this->exec, {blockspan::blocks::block_ref<Exec>(G), blockspan::blocks::block_ref<Exec>(H)},
        last - first, workspace);
    auto const of_rank = [&](std::size_t which, Small const& like) {
      return Kokkos::View<S**, Kokkos::LayoutLeft, Exec, Kokkos::MemoryUnmanaged>(
          grams.nodes(which).first.data, like.extent(0), like.extent(1));
    };
    Kokkos::deep_copy(of_rank(0, G), A), Kokkos::deep_copy(of_rank(1, H), B);
    grams.join();
    this->exec.fence();
    auto all = on_host(G);
    auto const more = on_host(H);
    all.insert(all.end(), more.begin(), more.end());
    return std::pair(all, on_host(A));
  };
  auto const [by_device, A] = sums(device);
  EXPECT_EQ(by_device, sums(host).first);
  // equal terms: sums of a power of two of ranks are exact
  if (world().size() == 2 || world().size() == 4) {
    EXPECT_EQ(by_device[0], A[0] * S(static_cast<double>(world().size())));
  }
}

TYPED_TEST(OnDevices, SumsGoByTheHostWhereARankHasNoRows) {
  std::vector<std::int64_t> cuts(static_cast<std::size_t>(world().size()), 0);
  cuts.push_back(500);
  RowSpace const space(this->devices, cuts, 0);
  EXPECT_EQ(space.device_sums(), nullptr);
  auto const local = world().rank() + 1 == world().size() ? 500 : 0;
  Workspace<Exec> workspace(space), alone;
  auto const X = this->random({}, local, 3, 1), all = this->random({}, 500, 3, 1);
  Kokkos::View<double*, Kokkos::HostSpace> const found("found", 3), wanted("wanted", 3);
  column_norms(this->exec, X, found, workspace);
  column_norms(this->exec, all, wanted, alone);
  EXPECT_EQ(entries(found), entries(wanted));
}

TYPED_TEST(OnDevices, ConjugateGradientsTakeTheSameSteps) {
  using S = typename TypeParam::Scalar;
  for (int const kind : {0, 1, 2}) {
    CgMethod const method = kind == 2 ? CgMethod::block : CgMethod::pseudo_block;
    auto const run = [&](Communicator const& ranks) {
      auto const A = distributed_operator(this->exec, this->parts(ranks, "laplace7:20"));
      auto const B = this->random(A.row_space(), A.rows(), 4, 1);
      Block<S, Exec> const X("X", B.extent(0), B.extent(1));
      CgOptions<S, Exec> options;
      options.keep_history = true;
      options.method = method;
      options.single_reduction = kind == 1;
      auto const report = solve_spd(this->exec, A, B, X, options);
      EXPECT_TRUE(report.converged()) << to_string(report.status);
      if (!blockspan::support::runs_on_host_v<Exec> && method == CgMethod::pseudo_block) {
        EXPECT_EQ(report.counters.replayed > 0, ranks.device() != nullptr || ranks.size() == 1);
      }
      return std::pair(report, on_host(X));
    };
    auto const [by_host, x] = run(world());
    auto const [by_device, y] = run(this->devices);
    EXPECT_EQ(y, x);
    ASSERT_EQ(by_device.history.size(), by_host.history.size());
    for (std::size_t i = 0; i < by_host.history.size(); ++i)
      ASSERT_EQ(by_device.history[i].residuals, by_host.history[i].residuals) << i;
  }
}

TYPED_TEST(OnDevices, EigenvaluesAreThoseOfTheGrid) {
  using S = typename TypeParam::Scalar;
  auto const A = distributed_operator(this->exec, this->parts(this->devices, "laplace7:20"));
  Block<S, Exec> const X("X", static_cast<std::size_t>(A.rows()), 8);
  LobpcgOptions<S, Exec> options;
  options.wanted = 4;
  options.path = SolvePath::iterative;
  auto const report = lobpcg(this->exec, A, X, options);
  EXPECT_TRUE(report.converged()) << to_string(report.status);
  auto const wanted = grid7_spectrum(20);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(report.eigenvalues[i], wanted[i], 1e-4 * wanted[i]);
}

}  // namespace
}  // namespace blockspan::test
