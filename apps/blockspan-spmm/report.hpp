#pragma once

#include <string>

#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/result.hpp"

namespace blockspan::apps {

/// The JSON report of a run. What is not a finite number is null.
///
///   schema      "blockspan-spmm/1"
///   versions    of blockspan, kokkos, kokkos_kernels
///   problem     source, scalar, rows, columns, nonzeros; op
///   backend     "cuda", "openmp", "serial", ...
///   device      name of the accelerator (null on the host), threads (null on it)
///   options     what was asked for, defaults included
///   bandwidth   gbytes: GB/s, read and written, of a copy on this device; array_bytes, batches,
///               method: how it was measured
///   checked     per width: columns, bytes (compulsory traffic), flops, rows (compared with the
///               reference), all_rows
///   right       true: no result is wrong
///   runs        per width and kernel:
///     columns
///     requested        auto, an id of the menu, or a peer
///     ran              the kernel that multiplied (of a peer its id); null if refused
///     refused          why the kernel cannot serve the input; null if it can
///     right            every checked element within its bound, no NaN; null if refused, as all of
///                      the following then
///     deterministic    equal bits in several runs
///     error            |y - reference| / (|A||X|) of the element worst against its bound
///     error_bound      that element's bound; error <= error_bound where it is right
///     worst            row and column of that element, from 0
///     not_a_number     elements of Y that are NaN, after a start full of NaN
///     setup_ms         to make the plan, or what the peer prepares: its buffer, preprocessing
///     first_ms         the first product: it may allocate, load or build what the next ones use
///     ms               median, min, max of a product; null if wrong, as all of the following then
///     repeats          batches; launches: products in each
///     gflops           2 nonzeros columns (8 if complex) in the median time
///     gbytes           GB/s of compulsory traffic in the median time
///     share_of_floor   that over the copy's
///     explain          the plan's words; empty for a peer
std::string report_text(SpmmCommand const& command, SpmmResult const& result);

}  // namespace blockspan::apps
