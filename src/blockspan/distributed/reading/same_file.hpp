#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <blockspan/communication/communicator.hpp>

namespace blockspan::distributed {

/// Throws AgreedError if `path` names a different file, in length or contents, on a rank. The file
/// of rank 0 is the reference. Called by all ranks.
///
/// size: of the file as this rank sees it. cut(r): the first byte that rank r is about to read,
/// cut(ranks): their end. Files of up to 64 MiB are compared completely. Of longer ones all bytes
/// that any rank is about to read are compared with the file of rank 0, and 64 MiB of samples of
/// the rest. A rank reads its own bytes once and the samples; ranks that see the same file as rank
/// 0 share the reading of that file, and if all do, nothing is read.
void require_same_file(Communicator const& ranks, std::string const& path, std::int64_t size,
                       std::function<std::int64_t(int)> const& cut);

}  // namespace blockspan::distributed
