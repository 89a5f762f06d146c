#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <blockspan/communication/communicator.hpp>

#include <blockspan.h>

namespace blockspan::capi {

/// Where operators compute, and on which ranks.
struct Context {
  std::int32_t device = -1;          ///< -1: host
  std::shared_ptr<void const> exec;  ///< the instance, of the backend that `device` selects
  std::optional<Communicator> ranks;
  std::string report;  ///< of the last solve, JSON
};

/// The outputs of a solve in the caller's memory; null pointers are skipped.
struct Results {
  double *values = nullptr, *errors = nullptr;
  std::int32_t *statuses = nullptr, *iterations = nullptr;
  std::int64_t* found = nullptr;
  blockspan_summary summary = {};
};

/// The object behind a handle, independent of scalar and backend. Checks the caller's blocks, and
/// rejects operators of another scalar or context.
class Operator {
 public:
  Operator(std::shared_ptr<Context> context, std::int32_t scalar)
      : context_(std::move(context)), scalar_(scalar) {}
  virtual ~Operator() = default;
  Operator(Operator const&) = delete;
  Operator& operator=(Operator const&) = delete;

  Context& context() const { return *context_; }
  std::shared_ptr<Context> const& shared_context() const { return context_; }
  std::int32_t scalar() const { return scalar_; }

  virtual std::string describe() const = 0;
  virtual void apply(blockspan_block const* X, blockspan_block const* Y) const = 0;
  /// Throws Error unless this is a matrix of one process.
  virtual void multiply(std::int32_t op, void const* alpha, blockspan_block const* X,
                        void const* beta, blockspan_block const* Y) const;
  /// Throws Error unless this is a matrix, or a preconditioner made from one.
  virtual void refresh(void const* other_values);
  /// Null for "none". self: owns this object, which the preconditioner keeps alive.
  virtual std::shared_ptr<Operator> preconditioner(std::shared_ptr<Operator> const& self,
                                                   std::string const& words,
                                                   blockspan_preconditioner_options const& options,
                                                   std::shared_ptr<Operator> const& mass) const;

  virtual void lobpcg(Operator const* mass, Operator const* preconditioner,
                      blockspan_block const* X, blockspan_lobpcg_options const& options,
                      Results& results) const = 0;
  virtual void solve_spd(Operator const* preconditioner, blockspan_block const* B,
                         blockspan_block const* X, blockspan_cg_options const& options,
                         Results& results) const = 0;
  // The exact methods: throw Error unless this is a matrix.
  virtual void near(Operator const* M, double sigma, blockspan_block const* X,
                    blockspan_exact_options const& options, Results& results) const;
  virtual void inside(Operator const* M, double from, double to, blockspan_block const* X,
                      blockspan_exact_options const& options, Results& results) const;
  virtual bool count(Operator const* M, double from, double to,
                     blockspan_exact_options const& options, std::int64_t& number) const;

 private:
  std::shared_ptr<Context> context_;
  std::int32_t scalar_;
};

/// The arguments of blockspan_matrix_csr and blockspan_matrix_distributed.
struct CsrArrays {
  std::int64_t rows, columns;
  void const* offsets;
  std::int32_t offset_bits;
  std::int32_t const* column_indices;
  void const* values;
  std::int32_t base = 0;  ///< first index of offsets and columns; if not 0, they are copied
};
struct RankArrays {
  std::int64_t const* cuts;
  CsrArrays own;
  std::int32_t const* other_offsets;
  std::int64_t const* other_columns;
  void const* other_values;
};
struct Callback {
  std::int64_t const* cuts;
  std::int64_t local_rows;
  blockspan_apply apply;
  void* user;
  bool by_columns;
  std::string name;
};

/// Creates operators of one scalar on one backend.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::shared_ptr<Operator> csr(std::shared_ptr<Context> context,
                                        CsrArrays const& arrays) const = 0;
  virtual std::shared_ptr<Operator> distributed(std::shared_ptr<Context> context,
                                                RankArrays const& arrays) const = 0;
  virtual std::shared_ptr<Operator> callback(std::shared_ptr<Context> context,
                                             Callback const& callback) const = 0;
};

/// Throws if this build lacks the scalar or the backend.
Engine const& engine_of(Context const& context, std::int32_t scalar);

/// "double", "complex_float", ...; a description for invalid codes.
std::string scalar_name(std::int32_t scalar);

}  // namespace blockspan::capi
