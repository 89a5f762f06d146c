#include "common/files/json_document.hpp"

namespace blockspan::apps {

namespace {

bool holds_objects(Json const& value) {
  return value.is_array() && !value.empty() && value.front().is_object();
}

std::string elements(Json const& array) {
  std::string text = "[";
  char const* separator = "\n    ";
  for (Json const& element : array) {
    text += separator + element.dump();
    separator = ",\n    ";
  }
  return text + "]";
}

}  // namespace

std::string to_text(Json const& object) {
  std::string text = "{";
  char const* separator = "\n  ";
  for (auto const& [key, value] : object.items()) {
    text += separator + Json(key).dump() + ": " +
            (holds_objects(value) ? elements(value) : value.dump());
    separator = ",\n  ";
  }
  return text + "\n}\n";
}

}  // namespace blockspan::apps
