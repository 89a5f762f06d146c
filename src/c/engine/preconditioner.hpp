#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multigrid/preconditioner_words.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#if defined(BLOCKSPAN_HAS_DIRECT)
#include <blockspan/operators/direct.hpp>
#endif
#if defined(BLOCKSPAN_HAS_KOKKOS_KERNELS)
#include <blockspan/operators/gauss_seidel.hpp>
#endif

#include "../errors.hpp"
#include "matrix.hpp"

namespace blockspan::capi {

/// A preconditioner that words ask for, made of a matrix that it keeps alive.
template <class Scalar, class Exec>
class WordsPreconditioner final : public Linear<Scalar, Exec> {
 public:
  using Library = LinearOperator<Scalar, Exec>;
  using Matrix = AnyMatrix<Scalar, Exec>;
  static constexpr auto where = "blockspan_preconditioner";

  WordsPreconditioner(std::shared_ptr<Operator> const& matrix, PreconditionerWords words,
                      blockspan_preconditioner_options const& options,
                      std::shared_ptr<Operator> const& mass)
      : Linear<Scalar, Exec>(matrix->shared_context()),
        words_(std::move(words)),
        options_(options),
        matrix_(std::static_pointer_cast<Matrix>(matrix)),
        mass_(mass) {
    auto const source = matrix_->source();
    std::int64_t const rows = source.product->rows();
    near_null_ = copy_of<Scalar>(this->exec(), where, "near_null", options.near_null, rows);
    take_coordinates(options.coordinates);
    options_.near_null = options_.coordinates = nullptr;
    matrix_->beside(where, "mass", mass.get());
    require(options.columns >= 1, where, "columns is ", options.columns);
    make();
  }

  std::string describe() const override {
    return this->library().name() + (notes_.empty() ? "" : "\n" + notes_);
  }

  void refresh(void const*) override {
    if (refresh_)
      refresh_();
    else
      make();
  }

 private:
  using Kind = PreconditionerKind;
  using Real = real_t<Scalar>;

  bool for_systems() const { return options_.purpose == BLOCKSPAN_FOR_SYSTEMS; }

  void take_coordinates(blockspan_block const* block) {
    if (block == nullptr || block->columns == 0) return;
    coordinates_ = copy_of<Real>(this->exec(), where, "coordinates", block, block->rows);
  }

  void make() {
    require(
        options_.purpose == BLOCKSPAN_FOR_SYSTEMS || options_.purpose == BLOCKSPAN_FOR_EIGENPAIRS,
        where, "purpose is ", options_.purpose, ", not 0 or 1");
    bool const levels = words_.kind == Kind::multigrid;
    require(levels || (options_.block_size == 0 && options_.adaptive == 0 &&
                       near_null_.extent(1) == 0 && coordinates_.extent(1) == 0),
            where, "near_null, coordinates, block_size and adaptive go with multigrid, not with ",
            words_.name);
    notes_.clear();
    auto const source = matrix_->source();
    switch (words_.kind) {
      case Kind::jacobi:
        return make_jacobi(source);
      case Kind::block_jacobi:
        return make_block_jacobi(source);
      case Kind::chebyshev:
        return make_chebyshev(source);
      case Kind::multigrid:
        return source.spread ? make_multigrid_on_ranks(source) : make_multigrid(source);
      case Kind::direct:
        return make_direct(source);
      case Kind::gauss_seidel:
        return make_gauss_seidel(source);
      default:
        not_built(std::string(where) + ": '" + words_.name +
                  "' changes over in the midst of a solve, which only the programs do: name one");
    }
  }

  /// f() where one process or all ranks make something of their own rows.
  template <class Function>
  auto on_each(Function const& f) const {
    auto const& ranks = this->context().ranks;
    return ranks ? ranks->run_agreed(f) : f();
  }

  CrsMatrix<Scalar, Exec> own_rows(MatrixSource<Scalar, Exec> const& source) const {
    return source.spread ? source.spread->diagonal_block(this->exec()) : source.own;
  }

  void require_diagonal(MatrixSource<Scalar, Exec> const& source) const {
    if (!for_systems()) return;
    on_each([&] {
      auto const d = source.product->entries().diagonal(this->exec());
      for (std::size_t i = 0; i < d.size(); ++i)
        require(d[i] >= 0 && std::isfinite(d[i]), where, "the diagonal entry of row ", i,
                " (from 0, of this process) is ", d[i], ", so the matrix is not positive definite");
    });
  }

  auto jacobi_factors(MatrixSource<Scalar, Exec> const& source) const {
    return on_each([&] { return jacobi(this->exec(), own_rows(source)).factors(); });
  }

  void make_jacobi(MatrixSource<Scalar, Exec> const& source) {
    require_diagonal(source);
    this->set_library(std::make_shared<JacobiPreconditioner<Scalar, Exec>>(jacobi_factors(source)));
  }

  void make_block_jacobi(MatrixSource<Scalar, Exec> const& source) {
    auto made = on_each([&] {
      return std::make_shared<BlockJacobiPreconditioner<Scalar, Exec>>(
          this->exec(), own_rows(source), BlockJacobiOptions{words_.block_size, !for_systems()});
    });
    if (made->indefinite_blocks() > 0)
      notes_ = std::to_string(made->indefinite_blocks()) +
               " blocks are not positive definite; their modulus is used instead";
    this->set_library(std::move(made));
  }

  void make_chebyshev(MatrixSource<Scalar, Exec> const& source) {
    product_ = source.product;  // kept by reference
    ChebyshevOptions const options{.degree = words_.degree,
                                   .ratio = words_.ratio > 0 ? words_.ratio
                                            : for_systems()  ? 10
                                                             : 30};
    require_diagonal(source);
    auto const setup =
        source.spread ? chebyshev_setup<Scalar, Exec>(this->exec(), *product_,
                                                      jacobi_factors(source), options)
                      : chebyshev_setup<Scalar, Exec>(this->exec(), *product_, source.own, options);
    require(setup.usable(), where, setup.fault);
    this->set_library(std::make_shared<ChebyshevPreconditioner<Scalar, Exec>>(
        chebyshev(*product_, setup, options)));
  }

  MultigridOptions<Scalar, Exec> level_options() const {
    MultigridOptions<Scalar, Exec> o;
    o.near_null = near_null_;
    o.coordinates = coordinates_;
    o.block_size = options_.block_size;
    o.adaptive = options_.adaptive;
    o.degree = words_.degree;
    o.columns = options_.columns;
    return o;
  }

  void take_report(MultigridReport const& report) {
    require(report.usable(), where, report.message);
    notes_ = std::string(to_string(report.status)) +
             (report.message.empty() ? "" : ": " + report.message) + "\n" + report.table();
  }

  void make_multigrid(MatrixSource<Scalar, Exec> const& source) {
    auto made =
        std::make_shared<Multigrid<Scalar, Exec>>(this->exec(), source.own, level_options());
    take_report(made->report());
    refresh_ = [this, made] {
      made->refresh(this->exec(), matrix_->source().own);
      take_report(made->report());
    };
    this->set_library(std::move(made));
  }

  void make_multigrid_on_ranks([[maybe_unused]] MatrixSource<Scalar, Exec> const& source) {
    if constexpr (std::is_same_v<real_t<Scalar>, double>) {
      using Made = DistributedMultigrid<Scalar, Exec>;
      auto made = std::make_shared<Made>(this->exec(), source.spread, level_options());
      take_report(made->report());
      refresh_ = [this, made] {
        made->refresh(this->exec(), matrix_->source().spread);
        take_report(made->report());
      };
      this->set_library(std::move(made));
    } else {
      not_built(std::string(where) + ": multigrid on ranks is in double precision only");
    }
  }

  void make_direct([[maybe_unused]] MatrixSource<Scalar, Exec> const& source) {
#if defined(BLOCKSPAN_HAS_DIRECT)
    require(source.spread == nullptr, where, "direct factors are of one process, not of ranks");
    auto const mass =
        mass_ ? std::static_pointer_cast<Matrix>(mass_)->source().own : CrsMatrix<Scalar, Exec>();
    auto const use = for_systems() ? DirectUse::definite : DirectUse::preconditioner;
    auto made = std::make_shared<DirectSolver<Scalar, Exec>>(
        direct(this->exec(), source.own, {.use = use}, mass_ ? &mass : nullptr));
    for (auto const& note : made->report().notes()) notes_ += note + "\n";
    refresh_ = [this, made] { made->refresh(this->exec(), matrix_->source().own); };
    this->set_library(std::move(made));
#else
    not_built(std::string(where) +
              ": the library was built without direct (apt-get install libmumps-seq-dev, then "
              "-DBlockspan_ENABLE_DIRECT=ON)");
#endif
  }

  void make_gauss_seidel([[maybe_unused]] MatrixSource<Scalar, Exec> const& source) {
#if defined(BLOCKSPAN_HAS_KOKKOS_KERNELS)
    require(source.spread == nullptr, where, "gauss-seidel is of one process, not of ranks");
    this->set_library(gauss_seidel<Scalar, Exec>(this->exec(), source.own));
#else
    not_built(
        std::string(where) +
        ": the library was built without gauss-seidel (-DBlockspan_ENABLE_KOKKOS_KERNELS=ON)");
#endif
  }

  PreconditionerWords words_;
  blockspan_preconditioner_options options_;
  std::shared_ptr<Matrix> matrix_;
  std::shared_ptr<Operator> mass_;
  Block<Scalar, Exec> near_null_;
  Block<Real, Exec> coordinates_;
  std::shared_ptr<Library const> product_;
  std::function<void()> refresh_;  // where more than values can be kept
  std::string notes_;
};

template <class Scalar, class Exec>
std::shared_ptr<Operator> AnyMatrix<Scalar, Exec>::preconditioner(
    std::shared_ptr<Operator> const& self, std::string const& text,
    blockspan_preconditioner_options const& options, std::shared_ptr<Operator> const& mass) const {
  auto const words = parse_preconditioner_words("blockspan_preconditioner", text, options.ratio);
  if (words.kind == PreconditionerKind::none) return nullptr;
  return std::make_shared<WordsPreconditioner<Scalar, Exec>>(self, words, options, mass);
}

}  // namespace blockspan::capi
