#pragma once

#include <functional>

#include "peers/contender.hpp"

namespace blockspan::perf {

/// Bytes a second at which rows of 128 bytes, chosen at random, come from a table that the
/// last-level cache holds (devices: 16 MiB; hosts: 128 KiB a thread, so the private caches): what
/// the gather of a product could reach at best. The fastest of `batches`. Fences.
double measure_gather(Exec const& exec, int batches);

/// Queues the writing of more bytes than any cache holds (devices 256 MiB, hosts 128 MiB).
std::function<void()> make_flush(Exec const& exec);

}  // namespace blockspan::perf
