#include <blockspan/operators/cudss/solver.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators::cudss {

namespace {

constexpr char const* where = "blockspan::direct";

// cudaDataType of library_types.h, CUDA Toolkit
enum DataType : int { real_double = 1, complex_double = 5, integer_32 = 10 };

char const* in_words(int status) {
  constexpr char const* words[] = {"success",           "not initialized",  "out of memory",
                                   "invalid value",     "not supported",    "execution failed",
                                   "an internal error", "refinement failed"};
  return status >= 0 && status < 8 ? words[status] : "unknown";
}

/// A block of columns as cuDSS sees it.
class Columns {
 public:
  Columns(Library const& library, LowerTriangle const& A, void const* values, std::int64_t columns)
      : library_(library) {
    int const type = A.is_complex ? complex_double : real_double;
    constexpr int column_major = 0;
    status_ =
        library.cudssMatrixCreateDn(&object, A.rows, columns, A.rows, values, type, column_major);
  }
  ~Columns() {
    if (object != nullptr) library_.cudssMatrixDestroy(object);
  }
  Columns(Columns const&) = delete;
  Columns& operator=(Columns const&) = delete;
  int status() const { return status_; }

  void* object = nullptr;

 private:
  Library const& library_;
  int status_;
};

}  // namespace

Solver::Solver(Library const& library, void* stream, LowerTriangle const& A)
    : library_(library), matrix_(A) {
  try {
    require_success(library_.cudssCreate(&handle_), "start");
    require_success(library_.cudssSetStream(handle_, stream), "take a stream");
    if (!library_.threading.empty())
      require_success(library_.cudssSetThreadingLayer(handle_, library_.threading.c_str()),
                      "take its threading layer");
    require_success(library_.cudssConfigCreate(&config_), "start");
    require_success(library_.cudssDataCreate(handle_, &data_), "start");
    // the caller has scaled, and an analysis without a matching serves all values
    int const choices[][2] = {{Setting::matching, no_matching}, {pivoting, bunch_kaufman}};
    for (auto const& [setting, value] : choices)
      require_success(library_.cudssConfigSet(config_, setting, &value, sizeof value),
                      "take a setting");
    require_success(library_.cudssMatrixCreateCsr(
                        &a_, A.rows, A.rows, A.entries, A.offsets, nullptr, A.columns, A.values,
                        integer_32, integer_32, A.is_complex ? complex_double : real_double,
                        A.is_complex ? hermitian : symmetric, lower, 0),
                    "take the matrix");
  } catch (...) {
    this->~Solver();
    throw;
  }
}

Solver::~Solver() {
  if (a_ != nullptr) library_.cudssMatrixDestroy(a_);
  if (data_ != nullptr) library_.cudssDataDestroy(handle_, data_);
  if (config_ != nullptr) library_.cudssConfigDestroy(config_);
  if (handle_ != nullptr) library_.cudssDestroy(handle_);
}

void Solver::analyse() {
  execute_alone(analysis, "analyse");
  entries_ = count(factor_entries);
  std::int64_t estimates[16] = {};  // of the device: lasting, at most; then of the host
  std::size_t written = 0;
  if (library_.cudssDataGet(handle_, data_, memory_estimates, estimates, sizeof estimates,
                            &written) == success)
    bytes_ = estimates[1];
}

void Solver::factor() { execute_alone(factorization, "factor"); }

Inertia Solver::inertia() const {
  auto const replaced = count(perturbed_pivots);
  int narrow[2] = {};  // as wide as the indices of the matrix
  std::int64_t wide[2] = {};
  std::size_t written = 0;
  auto const get = [&](auto& signs) {
    return library_.cudssDataGet(handle_, data_, Datum::inertia, signs, sizeof signs, &written);
  };
  if (get(narrow) == success) return {narrow[0], narrow[1], replaced};
  require_success(get(wide), "count the pivots of");
  return {wide[0], wide[1], replaced};
}

void Solver::solve(void const* B, void* X, std::int64_t columns) const {
  Columns const b(library_, matrix_, B, columns), x(library_, matrix_, X, columns);
  require_success(b.status(), "take right-hand sides for");
  require_success(x.status(), "take solutions for");
  execute(Phase::solve, x.object, b.object, "solve with");
}

/// A phase without vectors, which cuDSS wants to be named all the same.
void Solver::execute_alone(int phase, char const* what) const {
  Columns const any(library_, matrix_, matrix_.values, 1);
  require_success(any.status(), what);
  execute(phase, any.object, any.object, what);
}

void Solver::execute(int phase, void* X, void const* B, char const* what) const {
  require_success(library_.cudssExecute(handle_, phase, config_, data_, a_, X, B), what);
}

/// A number that is an int or as wide as 64 bits.
std::int64_t Solver::count(int datum) const {
  std::int64_t wide = 0;
  std::size_t written = 0;
  if (library_.cudssDataGet(handle_, data_, datum, &wide, sizeof wide, &written) == success &&
      written == sizeof wide)
    return wide;
  int narrow = 0;
  require_success(library_.cudssDataGet(handle_, data_, datum, &narrow, sizeof narrow, &written),
                  "count for");
  return narrow;
}

void Solver::require_success(int status, char const* what) const {
  if (status != success) give_up(status, what);
}

void Solver::give_up(int status, char const* what) const {
  if (status == out_of_memory)
    fail(where, "out of memory of the device: cuDSS cannot ", what, " the matrix of ", matrix_.rows,
         " rows");
  fail(where, "cuDSS ", library_.version, " cannot ", what, " the matrix of ", matrix_.rows,
       " rows: status ", status, ", ", in_words(status));
}

}  // namespace blockspan::operators::cudss
