// Real matrices: the reference eigenvalues of eigenvalues.json, through the app, to the bound of
// the theory. A failure here is a wrong eigenvalue, a missed one or a spurious copy.
#include <algorithm>
#include <cmath>

#include <blockspan/sparse/matrix_market.hpp>

#include "apps/eig.hpp"
#include "apps/reference.hpp"
#include "support/matrices.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

struct Spectrum {
  std::string problem;  ///< kind and matrix, as eigenvalues.json calls them
  std::string which = "smallest";
};

void PrintTo(Spectrum const& spectrum, std::ostream* out) {
  *out << spectrum.problem << " " << spectrum.which;
}

std::string spectrum_name(::testing::TestParamInfo<Spectrum> const& info) {
  std::string name = info.param.problem + "_" + info.param.which;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

Json const& reference_problems() {
  static Json const list = Json::parse(read_text(*matrix_dir() / "eigenvalues.json"));
  return list;
}

Json const& find_problem(Spectrum const& spectrum) {
  for (Json const& problem : reference_problems())
    if (problem["problem"] == spectrum.problem && problem["which"] == spectrum.which)
      return problem;
  throw std::runtime_error("eigenvalues.json does not list " + spectrum.problem);
}

/// The operator of a problem as the tests know it.
ReferenceMatrix read_operator(std::string const& kind, std::string const& matrix) {
  ReferenceMatrix A = read_reference(matrix_path(matrix));
  if (kind == "lap") return laplacian_of(A);
  return kind == "adj" ? adjacency_of(A) : A;
}

/// An upper bound of ||r||_{M^-1}: exact for a diagonal M, otherwise through the smallest
/// eigenvalue of M, which eigenvalues.json lists too.
double dual_norm(Vector const& r, ReferenceMatrix const& M, std::string const& mass) {
  if (!M.is_diagonal())
    return norm(r) / std::sqrt(find_problem({"std:" + mass})["eigenvalues"][0].get<double>());
  Vector scaled = r;
  for (auto const& e : M.entries) scaled[e.row] /= std::sqrt(e.value.real());
  return norm(scaled);
}

/// What the recomputed residuals of a run allow its eigenvalues to be off by.
struct Judged {
  double residual_bound = 0;         ///< sqrt(k) max ||r_j||_{M^-1} / ||x_j||_M
  std::vector<double> backward;      ///< ||r|| / ((||A||_1 + |lambda| ||M||_1) ||x||)
  std::vector<double> squared_size;  ///< ||x||^2 / ||x||_M^2
};

Judged judge(Json const& problem, std::vector<double> const& values, std::vector<Vector> const& X) {
  std::string const name = problem["problem"];
  auto const A = read_operator(name.substr(0, 3), problem["matrix"]);
  bool const pencil = !problem["mass"].is_null();
  auto const M = pencil ? read_reference(matrix_path(problem["mass"])) : ReferenceMatrix{};
  double const norm_a = A.norm1(), norm_m = pencil ? M.norm1() : 1;
  Judged judged;
  for (std::size_t j = 0; j < values.size(); ++j) {
    Vector const Mx = pencil ? M.times(X[j]) : X[j];
    Vector const r = residual(A, X[j], values[j], Mx);
    double const size = norm(X[j]), mass_size = std::sqrt(dot(X[j], Mx).real());
    double const dual = pencil ? dual_norm(r, M, problem["mass"]) : norm(r);
    judged.residual_bound = std::max(judged.residual_bound, dual / mass_size);
    judged.backward.push_back(norm(r) / ((norm_a + std::abs(values[j]) * norm_m) * size));
    judged.squared_size.push_back(size * size / (mass_size * mass_size));
  }
  judged.residual_bound *= std::sqrt(static_cast<double>(values.size()));
  return judged;
}

std::vector<std::string> arguments_for(Json const& problem) {
  std::string const kind = problem["problem"].get<std::string>().substr(0, 3);
  std::vector<std::string> arguments{matrix_path(problem["matrix"]), "--pairs",
                                     std::to_string(problem["eigenvalues"].size()), "--which",
                                     problem["which"]};
  if (!problem["mass"].is_null())
    arguments.insert(arguments.end(), {"--mass", matrix_path(problem["mass"])});
  if (kind == "lap") arguments.insert(arguments.end(), {"--operator", "laplacian"});
  if (kind == "adj") arguments.insert(arguments.end(), {"--operator", "adjacency"});
  return arguments;
}

class EigSpectra : public ::testing::TestWithParam<Spectrum> {
 protected:
  void SetUp() override {
    if (!matrix_dir()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR names no folder of matrices";
    std::string const file = matrix_path(find_problem(GetParam())["matrix"]);
    if (!has_scalar<Kokkos::complex<double>> &&
        read_matrix_market_header(file).field == MatrixMarketField::complex)
      GTEST_SKIP() << needs_complex;
  }
};

TEST_P(EigSpectra, MatchTheReference) {
  Json const& problem = find_problem(GetParam());
  TemporaryFolder const temporary;
  std::string const vectors = temporary / "x.mtx";
  auto arguments = arguments_for(problem);
  arguments.insert(arguments.end(), {"--tolerance", "1e-12", "--path", "iterative", "--criterion",
                                     "backward", "--vectors", vectors});
  auto const [outcome, report] = run_eig(arguments);
  ASSERT_TRUE(outcome.status == 0 || outcome.status == 1) << outcome.status << outcome.err;
  auto const values = numbers(report["eigenvalues"]);
  auto const expected = numbers(problem["eigenvalues"]);
  ASSERT_EQ(values.size(), expected.size());

  auto const rows = problem["rows"].get<int>();
  bool const iterative = rows >= 5 * report["options"]["block"].get<int>();
  EXPECT_EQ(report["path"], iterative ? "iterative" : "dense");
  EXPECT_EQ(report["problem"]["rows"], rows);

  if (problem["mass"] == "bcsstm13") {  // a singular mass: no norm of its inverse exists
    for (std::size_t j = 0; j < values.size(); ++j)
      EXPECT_NEAR(values[j] / expected[j], 1, 1e-3) << "eigenvalue " << j + 1;
    return;
  }
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  Judged const judged = judge(problem, values, read_vectors(vectors));
  double const norm_a = problem["norm1_A"];
  for (std::size_t j = 0; j < values.size(); ++j) {
    EXPECT_LE(judged.backward[j], 1.02e-12) << "pair " << j + 1;
    double const rounding = 2.3e-16 * norm_a * judged.squared_size[j];
    Json const& relative = problem["attainable_relative_accuracy"][j];
    double const attainable =
        relative.is_null() ? rounding : relative.get<double>() * std::abs(expected[j]);
    double const bound =
        judged.residual_bound + 1e-14 * norm_a * judged.squared_size[j] + 50 * attainable;
    EXPECT_NEAR(values[j], expected[j], bound) << "eigenvalue " << j + 1;
  }
}

/// As users call it: whatever the path, every claim has its four digits.
TEST_P(EigSpectra, HaveTheirDigitsByDefault) {
  Json const& problem = find_problem(GetParam());
  auto const [outcome, report] = run_eig(arguments_for(problem));
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  auto const values = numbers(report["eigenvalues"]), bounds = numbers(report["error_bounds"]);
  auto const expected = numbers(problem["eigenvalues"]);
  for (std::size_t j = 0; j < values.size(); ++j) {
    Json const& relative = problem["attainable_relative_accuracy"][j];
    double const known = relative.is_null() ? 1e-13 * problem["norm1_A"].get<double>()
                                            : 50 * relative.get<double>() * std::abs(expected[j]);
    bool const zero = report["status"][j] == "zero_eigenvalue";
    EXPECT_NEAR(values[j], expected[j], (zero ? bounds[j] : 1e-4 * std::abs(expected[j])) + known)
        << "eigenvalue " << j + 1;
  }
}

constexpr char const* largest = "largest";

std::vector<Spectrum> const quick{{"std:nos4"},
                                  {"std:bcsstk01"},
                                  {"std:bcsstk02"},
                                  {"std:494_bus"},
                                  {"std:1138_bus"},
                                  {"std:nos3"},
                                  {"std:gr_30_30"},
                                  {"std:bcsstk08"},
                                  {"std:bcsstk21"},
                                  {"std:Trefethen_2000"},
                                  {"std:mhd1280b"},
                                  {"std:mhd3200b"},
                                  {"std:Chem97ZtZ"},
                                  {"std:Si2"},
                                  {"std:bcsstm21"},
                                  {"gen:bcsstk07/bcsstm07"},
                                  {"gen:bcsstk09/bcsstm09"},
                                  {"gen:bcsstk21/bcsstm21"},
                                  {"lap:3elt"},
                                  {"lap:minnesota"},
                                  {"std:ex5"},
                                  {"std:LF10"},
                                  {"std:Trefethen_20b"},
                                  {"std:mesh1e1"},
                                  {"std:662_bus"},
                                  {"std:nos5"},
                                  {"std:bcsstk07"},
                                  {"std:bcsstk09"},
                                  {"std:bcsstk10"},
                                  {"std:bcsstm07"},
                                  {"std:bcsstm12"},
                                  {"std:bcsstm08"},
                                  {"std:bcsstm09"},
                                  {"std:bcsstm24"},
                                  {"std:bcsstm26"},
                                  {"std:laser"},
                                  {"std:bcsstm10"},
                                  {"gen:bcsstk08/bcsstm08"},
                                  {"lap:dwt_2680"},
                                  {"lap:nasa4704"},
                                  {"lap:G1"},
                                  {"std:bcsstk15"},
                                  {"std:Si2", largest},
                                  {"lap:3elt", largest},
                                  {"std:Trefethen_2000", largest},
                                  {"adj:karate", largest},
                                  {"adj:G1", largest},
                                  {"std:gr_30_30", largest},
                                  {"std:mhd1280b", largest},
                                  {"adj:minnesota", largest}};
/// More than ten seconds each on a slow core.
std::vector<Spectrum> const slow{{"std:bcsstk13"},
                                 {"std:bcsstk26"},
                                 {"gen:bcsstk26/bcsstm26"},
                                 {"std:hangGlider_2"},
                                 {"gen:bcsstk09/bcsstm09", largest},
                                 {"gen:bcsstk13/bcsstm13"},
                                 {"std:plat362"},
                                 {"std:msc01050"}};

INSTANTIATE_TEST_SUITE_P(Quick, EigSpectra, ::testing::ValuesIn(quick), spectrum_name);
INSTANTIATE_TEST_SUITE_P(LongRun, EigSpectra, ::testing::ValuesIn(slow), spectrum_name);

TEST(EigSpectraList, HasEveryProblemBelowFiveThousandRows) {
  if (!matrix_dir()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR names no folder of matrices";
  auto const listed = [](std::vector<Spectrum> const& list, Json const& problem) {
    return std::any_of(list.begin(), list.end(), [&](Spectrum const& spectrum) {
      return problem["problem"] == spectrum.problem && problem["which"] == spectrum.which;
    });
  };
  for (Json const& problem : reference_problems()) {
    bool const of_a_component = problem["problem"].get<std::string>().rfind("lcc:", 0) == 0;
    if (problem["rows"] >= 5000 || of_a_component) continue;  // no such --operator
    EXPECT_TRUE(listed(quick, problem) || listed(slow, problem)) << problem["problem"];
  }
}

}  // namespace
}  // namespace blockspan::test
