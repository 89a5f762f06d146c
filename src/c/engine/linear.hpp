#pragma once

#include <memory>
#include <string>
#include <utility>

#include <blockspan/operators/linear_operator.hpp>

#include "blocks.hpp"

namespace blockspan::capi {

/// An operator with its scalar and backend, which solvers take.
template <class Scalar, class Exec>
class Linear : public Operator {
 public:
  using Library = LinearOperator<Scalar, Exec>;

  explicit Linear(std::shared_ptr<Context> context)
      : Operator(std::move(context), scalar_number<Scalar>()) {}

  Exec const& exec() const { return *static_cast<Exec const*>(this->context().exec.get()); }
  Library const& library() const {
    require(library_ != nullptr, "blockspan",
            "the matrix is not square: it can be multiplied only");
    return *library_;
  }

  std::string describe() const override { return library().name(); }
  void apply(blockspan_block const* X, blockspan_block const* Y) const override;
  void lobpcg(Operator const* mass, Operator const* preconditioner, blockspan_block const* X,
              blockspan_lobpcg_options const& options, Results& results) const override;
  void solve_spd(Operator const* preconditioner, blockspan_block const* B, blockspan_block const* X,
                 blockspan_cg_options const& options, Results& results) const override;

  /// Another operator of the same solve; null for null. Throws Error unless it has the same scalar,
  /// context and number of rows.
  Linear const* beside(char const* where, char const* name, Operator const* other) const {
    if (other == nullptr) return nullptr;
    require(other->scalar() == this->scalar(), where, name, " is of scalar ",
            scalar_name(other->scalar()), ", A of ", scalar_name(this->scalar()));
    require(&other->context() == &this->context(), where, name, " is of another context than A");
    auto const* const linear = static_cast<Linear const*>(other);
    require(linear->library().rows() == library().rows(), where, name, " has ",
            linear->library().rows(), " rows, A has ", library().rows());
    return linear;
  }

 protected:
  void set_library(std::shared_ptr<Library const> made) { library_ = std::move(made); }

 private:
  std::shared_ptr<Library const> library_;
};

template <class Scalar, class Exec>
void Linear<Scalar, Exec>::apply(blockspan_block const* X, blockspan_block const* Y) const {
  constexpr auto where = "blockspan_apply_operator";
  using Rows = RowMajor<Scalar, Exec>;
  require_block<Scalar, Exec>(where, "X", X, library().rows());
  require_result<Scalar, Exec>(where, "Y", Y, library().rows());
  require(X->columns == Y->columns, where, "X has ", X->columns, " columns, Y has ", Y->columns);
  if (X->columns == 0) return;
  bool const overlap = blocks::may_overlap<Scalar>(block_ref<Scalar>(*X), block_ref<Scalar>(*Y));
  Rows const x(exec(), *X, Rows::Use::read, overlap), y(exec(), *Y, Rows::Use::write);
  library().apply(exec(), x.view(), y.view());
  y.give_back(exec());
  if constexpr (support::runs_on_host_v<Exec>) exec().fence("blockspan_apply_operator");
}

}  // namespace blockspan::capi
