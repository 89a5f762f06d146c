#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blockspan::capi {

/// A JSON object as text, written member by member. Numbers keep all their digits; NaN and infinity
/// become null. Own code, since the C library depends on nothing that its users would have to
/// install: the programs' nlohmann_json comes with the option Blockspan_ENABLE_APPS, and would be
/// one more name of another version to hide.
class JsonText {
 public:
  template <class Value>
  JsonText& add(std::string_view name, Value const& member) {
    if (text_.size() > 1) text_ += ", ";
    value(name);
    text_ += ": ";
    value(member);
    return *this;
  }

  std::string text() const { return text_ + "}"; }

 private:
  void value(std::string_view text);
  void value(std::string const& text) { value(std::string_view(text)); }
  void value(char const* text) { value(std::string_view(text)); }
  void value(double number);
  void value(float number) { value(static_cast<double>(number)); }
  void value(std::int64_t number) { text_ += std::to_string(number); }
  void value(int number) { text_ += std::to_string(number); }
  void value(bool truth) { text_ += truth ? "true" : "false"; }
  void value(JsonText const& object) { text_ += object.text(); }
  template <class Value>
  void value(std::vector<Value> const& values) {
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      value(values[i]);
    }
    text_ += ']';
  }

  std::string text_ = "{";
};

}  // namespace blockspan::capi
