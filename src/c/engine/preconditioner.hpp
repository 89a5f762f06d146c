#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <blockspan/distributed/preconditioner.hpp>

#include "../errors.hpp"
#include "matrix.hpp"

namespace blockspan::capi {

/// A preconditioner given by words, made from a matrix that it keeps alive.
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
        mass_(std::dynamic_pointer_cast<Matrix>(mass)) {
    std::int64_t const rows = matrix_->library().rows();
    near_null_ = copy_of<Scalar>(this->exec(), where, "near_null", options.near_null, rows);
    take_coordinates(options.coordinates);
    options_.near_null = options_.coordinates = nullptr;
    matrix_->beside(where, "mass", mass.get());
    require((mass == nullptr) == (mass_ == nullptr), where, "mass is not a matrix");
    require_options();
    make();
  }

  std::string describe() const override {
    return this->library().name() + (notes_.empty() ? "" : "\n" + notes_);
  }

  void refresh(void const*) override {
    if (!made_.refresh) return make();
    made_.refresh(made_, matrix_->source().rows);
    take_notes();
  }

 private:
  using Kind = PreconditionerKind;
  using Real = real_t<Scalar>;

  void take_coordinates(blockspan_block const* block) {
    if (block == nullptr || block->columns == 0) return;
    coordinates_ = copy_of<Real>(this->exec(), where, "coordinates", block, block->rows);
  }

  /// Throws Error if this build, or several ranks, do not offer what the words ask for.
  void require_served(std::int64_t ranks) const {
    std::string const place = std::string(where) + ": ";
    if (words_.kind == Kind::automatic)
      not_built(place +
                "'automatic' changes over in the midst of a solve, which only the programs "
                "do: name one");
    if (words_.kind == Kind::direct && !LinkedComponents::direct)
      not_built(place +
                "the library was built without direct (apt-get install libmumps-seq-dev, then "
                "-DBlockspan_ENABLE_DIRECT=ON)");
    if (words_.kind == Kind::gauss_seidel && !LinkedComponents::gauss_seidel)
      not_built(place +
                "the library was built without gauss-seidel "
                "(-DBlockspan_ENABLE_KOKKOS_KERNELS=ON)");
    require(words_.kind != Kind::gauss_seidel || ranks == 1, where, words_.name,
            " is of one process, not of ranks");
    if (words_.kind == Kind::multigrid && ranks > 1 && sizeof(Real) < sizeof(double))
      not_built(place + "multigrid on ranks is in double precision only");
  }

  void require_options() const {
    require(
        options_.purpose == BLOCKSPAN_FOR_SYSTEMS || options_.purpose == BLOCKSPAN_FOR_EIGENPAIRS,
        where, "purpose is ", options_.purpose, ", not 0 or 1");
    require(options_.columns >= 1, where, "columns is ", options_.columns);
    bool const levels = words_.kind == Kind::multigrid;
    require(levels || (options_.block_size == 0 && options_.adaptive == 0 &&
                       near_null_.extent(1) == 0 && coordinates_.extent(1) == 0),
            where, "near_null, coordinates, block_size and adaptive go with multigrid, not with ",
            words_.name);
  }

  void make() {
    auto const source = matrix_->source();
    require_served(source.rows->partition().ranks());
    product_ = source.product;  // kept by reference
    bool const systems = options_.purpose == BLOCKSPAN_FOR_SYSTEMS;
    PreconditionerInput<Scalar, Exec> in{
        .exec = this->exec(),
        .A = source.rows,
        .product = product_.get(),
        .kind = systems ? SolveKind::system : SolveKind::eigenpairs,
        .columns = options_.columns,
        .where = where,
        .first_row = 0};
    std::shared_ptr<DistributedMatrix<Scalar, Exec> const> mass;
    if (mass_ && words_.kind == Kind::direct) {
      mass = mass_->source().rows;
      require(mass->partition().ranks() == source.rows->partition().ranks(), where,
              "mass is not of as many processes as the matrix");
      in.mass = mass.get();
    }
    made_ = make_preconditioner(in, words_, level_options());
    if (!made_.op) fail(made_.fault_kind, where, made_.fault);
    take_notes();
    this->set_library(std::move(made_.op));
  }

  MultigridOptions<Scalar, Exec> level_options() const {
    MultigridOptions<Scalar, Exec> o;
    o.near_null = near_null_;
    o.coordinates = coordinates_;
    o.block_size = options_.block_size;
    o.adaptive = options_.adaptive;
    return o;
  }

  void take_notes() {
    notes_.clear();
    if (made_.levels) {
      if (!made_.levels->usable()) fail(made_.levels->fault_kind(), where, made_.levels->message);
      notes_ = made_.levels->describe();
      return;
    }
    for (auto const& note : made_.notes) notes_ += (notes_.empty() ? "" : "\n") + note;
  }

  PreconditionerWords words_;
  blockspan_preconditioner_options options_;
  std::shared_ptr<Matrix> matrix_;
  std::shared_ptr<Matrix> mass_;
  Block<Scalar, Exec> near_null_;
  Block<Real, Exec> coordinates_;
  std::shared_ptr<Library const> product_;
  Preconditioner<Scalar, Exec> made_;  // its operator is the library's
  std::string notes_;
};

template <class Scalar, class Exec>
std::shared_ptr<Operator> AnyMatrix<Scalar, Exec>::preconditioner(
    std::shared_ptr<Operator> const& self, std::string const& text,
    blockspan_preconditioner_options const& options, std::shared_ptr<Operator> const& mass) const {
  double const ratio = options.ratio != 0 ? options.ratio : ChebyshevOptions{}.ratio;
  auto const words = parse_preconditioner_words("blockspan_preconditioner", text, ratio);
  if (words.kind == PreconditionerKind::none) return nullptr;
  return std::make_shared<WordsPreconditioner<Scalar, Exec>>(self, words, options, mass);
}

}  // namespace blockspan::capi
