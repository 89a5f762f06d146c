#include "contexts.hpp"

#include <cstdlib>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/host_settings.hpp>

#include "built.hpp"
#include "engine/blocks.hpp"
#include "engine/engine.hpp"
#include "errors.hpp"
#include "values/json_text.hpp"
#if defined(BLOCKSPAN_HAS_MPI)
#include <blockspan/communication/mpi.hpp>
#endif

namespace blockspan::capi {

namespace {

constexpr auto where = "blockspan_context_create";

/// The concurrency of a running Kokkos backend; 0 for void.
template <class Exec>
int host_threads() {
  if constexpr (std::is_void_v<Exec>)
    return 0;
  else
    return Exec().concurrency();
}

/// Initializes Kokkos once per process. Never finalized: other libraries may use it during exit.
void start(blockspan_context_options const& options, bool several_ranks) {
  static std::mutex mutex;
  std::scoped_lock const lock(mutex);
  if (!Kokkos::is_initialized()) {
    auto settings = host_settings();
    bool const said = std::getenv("OMP_NUM_THREADS") || std::getenv("KOKKOS_NUM_THREADS");
    if (options.threads > 0)
      settings.set_num_threads(options.threads);
    else if (several_ranks && !said)
      settings.set_num_threads(1);  // else every rank of a node would take all cores
    if (options.device >= 0) settings.set_device_id(options.device);
    Kokkos::initialize(settings);
  }
  int const running = host_threads<HostExec>();
  require(options.threads <= 0 || running == 0 || options.threads == running, where,
          options.threads, " threads, but the library runs with ", running,
          ": the first context of a process decides");
}

template <class Exec>
std::shared_ptr<void const> instance([[maybe_unused]] void* stream) {
  if constexpr (std::is_void_v<Exec>) {
    return nullptr;
  } else {
    if (stream == nullptr) return std::make_shared<Exec const>();
    auto const made = support::instance_on<Exec>(stream);
    require(made.has_value(), where, "stream is not NULL, and hosts have no streams");
    return std::make_shared<Exec const>(*made);
  }
}

template <class Scalar>
bool is_scalar(std::int32_t number) {
  return scalar_number<Scalar>() == number;
}

template <class Exec, class... Scalars>
Engine const* find_engine(std::int32_t scalar, TypeList<Scalars...>) {
  Engine const* found = nullptr;
  if constexpr (!std::is_void_v<Exec>)
    ((is_scalar<Scalars>(scalar) ? void(found = &compiled_engine<Scalars, Exec>()) : void()), ...);
  return found;
}

template <class... Scalars>
std::vector<std::string> scalar_names(TypeList<Scalars...>) {
  return {scalar_name(scalar_number<Scalars>())...};
}

template <class Exec>
void add_backend(std::vector<std::string>& names) {
  if constexpr (!std::is_void_v<Exec>) names.emplace_back(Exec::name());
}

std::string mpi_version() {
#if defined(BLOCKSPAN_HAS_MPI)
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text, static_cast<std::size_t>(length));
#else
  return "none";
#endif
}

}  // namespace

std::shared_ptr<Context> make_context(blockspan_context_options const& options,
                                      std::optional<Communicator> ranks) {
  require(options.threads >= 0 && options.threads <= most_host_threads, where, options.threads,
          " threads; there can be 1 to ", most_host_threads, ", and 0 for the default");
  require(options.device >= -1, where, "device is ", options.device, "; -1 is the host");
  bool const on_host = options.device < 0;
  if (on_host ? std::is_void_v<HostExec> : std::is_void_v<DeviceExec>)
    not_built(std::string(where) + ": the library was built without a backend for " +
              (on_host ? "hosts" : "devices") + " (Blockspan_BACKENDS)");
  start(options, ranks && ranks->size() > 1);
  auto context = std::make_shared<Context>();
  context->device = options.device;
  context->ranks = std::move(ranks);
  context->exec =
      on_host ? instance<HostExec>(options.stream) : instance<DeviceExec>(options.stream);
  return context;
}

Engine const& engine_of(Context const& context, std::int32_t scalar) {
  auto const* const found = context.device < 0 ? find_engine<HostExec>(scalar, BuiltScalars())
                                               : find_engine<DeviceExec>(scalar, BuiltScalars());
  if (found != nullptr) return *found;
  require(scalar >= BLOCKSPAN_FLOAT && scalar <= BLOCKSPAN_COMPLEX_DOUBLE, "blockspan",
          "the scalar is ", scalar_name(scalar));
  std::string names;
  for (auto const& name : scalar_names(BuiltScalars())) names += (names.empty() ? "" : ", ") + name;
  not_built("blockspan: the library was built without the scalar " + scalar_name(scalar) +
            " (Blockspan_SCALARS); it has " + names);
}

std::string configuration() {
  std::vector<std::string> backends;
  add_backend<HostExec>(backends);
  add_backend<DeviceExec>(backends);
  JsonText json;
  json.add("version", std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
                          std::to_string(version[2]))
      .add("scalars", scalar_names(BuiltScalars()))
      .add("backends", backends)
      .add("components", components)
      .add("mpi", mpi_version())
      .add("kokkos", static_cast<std::int64_t>(KOKKOS_VERSION));
  return json.text();
}

}  // namespace blockspan::capi
