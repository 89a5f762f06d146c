#pragma once

#include <memory>
#include <utility>

#include "callback.hpp"
#include "engine.hpp"
#include "exact.hpp"
#include "matrix.hpp"
#include "preconditioner.hpp"
#include "solves.hpp"

// The engine of one scalar and backend: creates its operators.

namespace blockspan::capi {

template <class Scalar, class Exec>
class EngineOf final : public Engine {
 public:
  std::shared_ptr<Operator> csr(std::shared_ptr<Context> context,
                                CsrArrays const& arrays) const override {
    return std::make_shared<WholeMatrix<Scalar, Exec>>(std::move(context), arrays);
  }
  std::shared_ptr<Operator> distributed(std::shared_ptr<Context> context,
                                        RankArrays const& arrays) const override {
    return std::make_shared<SpreadMatrix<Scalar, Exec>>(std::move(context), arrays);
  }
  std::shared_ptr<Operator> callback(std::shared_ptr<Context> context,
                                     Callback const& callback) const override {
    return std::make_shared<CallbackOperator<Scalar, Exec>>(std::move(context), callback);
  }
};

template <class Scalar, class Exec>
Engine const& compiled_engine() {
  static EngineOf<Scalar, Exec> const engine;
  return engine;
}

}  // namespace blockspan::capi
