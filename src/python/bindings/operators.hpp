#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/operators/linear_operator.hpp>

#include "arrays/arrays.hpp"
#include "gil.hpp"

namespace blockspan::python {

/// The caller's arrays from which a matrix or preconditioner was made.
class Origin {
 public:
  virtual ~Origin() = default;
  /// Throws Error if they were changed in place and no longer match what was made from them. O(1).
  virtual void check_unchanged() const = 0;
};

/// A square operator for blocks, independent of the scalar: A, the mass or a preconditioner of a
/// solver. Its workspace allows one call at a time: callers hold its mutex, and wait for it without
/// the GIL.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::string type() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::string name() const = 0;
  virtual void apply(ConstArray const& X, Array const& Y, Stream stream) const = 0;
  /// Notes of its setup, in words; may be empty.
  virtual std::string report() const { return {}; }
  std::recursive_mutex& mutex() const { return mutex_; }  // a callback may use it again

 private:
  mutable std::recursive_mutex mutex_;
};

template <class Scalar>
class OperatorOf final : public Operator {
 public:
  using Linear = LinearOperator<Scalar, Exec>;

  /// owner: kept alive, since `linear` refers to it. origin: the arrays that `linear` reads, if
  /// any.
  explicit OperatorOf(std::shared_ptr<Linear const> linear, std::shared_ptr<void const> owner = {},
                      std::shared_ptr<Origin const> origin = {}, std::string report = {})
      : owner_(std::move(owner)),
        origin_(std::move(origin)),
        linear_(std::move(linear)),
        report_(std::move(report)) {}

  std::string type() const override { return type_name<Scalar>(); }
  std::int64_t rows() const override { return linear_->rows(); }
  std::string name() const override { return linear_->name(); }
  void apply(ConstArray const& X, Array const& Y, Stream stream) const override {
    auto const x = row_major_block<Scalar const>(X, "X");
    auto const y = row_major_block<Scalar>(Y, "Y");
    require(x.extent(0) == static_cast<std::size_t>(rows()) && y.extent(0) == x.extent(0) &&
                y.extent(1) == x.extent(1),
            "blockspan", "X is ", in_words(X), ", Y is ", in_words(Y), ", and the operator has ",
            rows(), " rows");
    check_unchanged();
    WithoutGil const without_gil;
    std::scoped_lock const lock(mutex());
    auto const exec = instance_to_wait_for(stream);
    if (x.extent(1) > 0) linear_->apply(exec, x, y);
    exec.fence("Blockspan::python::Operator");
  }

  std::string report() const override { return report_; }
  Linear const& linear() const { return *linear_; }
  void check_unchanged() const {
    if (origin_) origin_->check_unchanged();
  }

 private:
  std::shared_ptr<void const> owner_;
  std::shared_ptr<Origin const> origin_;
  std::shared_ptr<Linear const> linear_;
  std::string report_;
};

/// The operator with its scalar. Throws Error if it has another one, or its arrays were changed.
template <class Scalar>
OperatorOf<Scalar> const& operator_of(Operator const& op, char const* name) {
  auto const* const typed = dynamic_cast<OperatorOf<Scalar> const*>(&op);
  require(typed != nullptr, "blockspan", name, " has the type ", op.type(), ", and the block ",
          type_name<Scalar>());
  typed->check_unchanged();
  return *typed;
}

/// The same, or null.
template <class Scalar>
LinearOperator<Scalar, Exec> const* optional_operator(Operator const* op, char const* name) {
  return op == nullptr ? nullptr : &operator_of<Scalar>(*op, name).linear();
}

/// Locks the operators of a solve; null pointers are skipped.
class OperatorLocks {
 public:
  explicit OperatorLocks(std::initializer_list<Operator const*> operators) {
    std::set<std::recursive_mutex*>
        distinct;  // in one order everywhere: no two wait for each other
    for (auto const* const op : operators)
      if (op != nullptr) distinct.insert(&op->mutex());
    for (auto* const mutex : distinct) locks_.emplace_back(*mutex);
  }

 private:
  std::vector<std::unique_lock<std::recursive_mutex>> locks_;
};

void bind_operators(nb::module_& m);

}  // namespace blockspan::python
