#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../errors.hpp"
#include "linear.hpp"

namespace blockspan::capi {

/// A callback of the caller as an operator.
template <class Scalar, class Exec>
class CallbackOperator final : public Linear<Scalar, Exec> {
 public:
  CallbackOperator(std::shared_ptr<Context> context, Callback const& callback)
      : Linear<Scalar, Exec>(std::move(context)), callback_(callback) {
    constexpr auto where = "blockspan_operator_callback";
    auto const& ranks = this->context().ranks;
    RowSpace space;
    if (callback.cuts != nullptr) {
      require(ranks.has_value(), where, "cuts are for contexts with ranks; this one has none");
      std::vector<std::int64_t> const cuts(callback.cuts, callback.cuts + ranks->size() + 1);
      space = RowSpace(*ranks, cuts, 0);
      space.require_rows(callback.local_rows, where);
    }
    require(callback.local_rows >= 0, where, "local_rows is ", callback.local_rows);
    callback_.cuts = nullptr;
    auto const call = [this](Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                             Block<Scalar, Exec> const& Y) { this->call(exec, X, Y); };
    OperatorFacts<Scalar, Exec> facts;
    facts.name = callback.name;
    facts.row_space = space;
    using Function = FunctionOperator<Scalar, Exec, decltype(call)>;
    this->set_library(std::make_shared<Function>(callback.local_rows, call, facts));
  }

 private:
  using Columns =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>>;

  template <class View>
  static blockspan_block block_of(View const& X) {
    return {const_cast<Scalar*>(X.data()),
            static_cast<std::int64_t>(X.extent(0)),
            static_cast<std::int64_t>(X.extent(1)),
            static_cast<std::int64_t>(X.stride(0)),
            static_cast<std::int64_t>(X.stride(1)),
            scalar_number<Scalar>(),
            space_number<Exec>()};
  }

  void call(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
            Block<Scalar, Exec> const& Y) const {
    if (!callback_.by_columns) {
      exec.fence("Blockspan::c: before a callback");
      run(block_of(X), block_of(Y));
      return;
    }
    if (x_.extent(0) != X.extent(0) || x_.extent(1) != X.extent(1)) {
      x_ = allocate<Columns>(exec, "Blockspan::c: callback", X.extent(0), X.extent(1));
      y_ = allocate<Columns>(exec, "Blockspan::c: callback", X.extent(0), X.extent(1));
    }
    convert_block(exec, X, x_);
    exec.fence("Blockspan::c: before a callback");
    run(block_of(x_), block_of(y_));
    convert_block(exec, y_, Y);
  }

  /// If the callback fails on one rank, all ranks throw: the others would wait for it.
  void run(blockspan_block const& X, blockspan_block const& Y) const {
    int const code = callback_.apply(callback_.user, &X, &Y);
    auto const& ranks = this->context().ranks;
    bool const failed_somewhere = ranks ? ranks->any(code != 0) : code != 0;
    if (!failed_somewhere) return;
    throw Coded(BLOCKSPAN_CALLBACK_FAILED,
                "the callback '" + callback_.name + "' returned " + std::to_string(code) +
                    (code == 0 ? " here, and not 0 on another rank" : ""));
  }

  Callback callback_;
  mutable Columns x_, y_;
};

}  // namespace blockspan::capi
