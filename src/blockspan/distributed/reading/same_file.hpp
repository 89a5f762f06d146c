#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <blockspan/communication/communicator.hpp>

namespace blockspan::distributed {

/// Throws AgreedError where `path` is the name of another file, in length or bytes, on the disk of
/// a rank. The file of rank 0 is the one that counts. All ranks call it together.
///
/// size: of the file as this rank sees it. cut(r): where the bytes begin that rank r is about to
/// read, cut(ranks) their end. Files of up to 64 MiB are compared whole. Of longer ones all that
/// any rank is about to read is compared with rank 0's file, and 64 MiB in pieces of all the rest.
/// A rank reads its own bytes once and the pieces; ranks that have the very file of rank 0 share
/// the reading of that, and where all have it nothing is read.
void require_same_file(Communicator const& ranks, std::string const& path, std::int64_t size,
                       std::function<std::int64_t(int)> const& cut);

}  // namespace blockspan::distributed
