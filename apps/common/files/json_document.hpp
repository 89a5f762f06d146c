#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace blockspan::apps {

using Json = nlohmann::ordered_json;

/// An object as text, one member a line (and one element a line for arrays of objects): as easy to
/// read as to parse. Numbers keep all their digits; NaN and infinity become null.
std::string to_text(Json const& object);

}  // namespace blockspan::apps
