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
  JsonText& add(std::string_view name, std::string_view text);
  JsonText& add(std::string_view name, char const* text) {
    return add(name, std::string_view(text));
  }
  JsonText& add(std::string_view name, double number);
  JsonText& add(std::string_view name, std::int64_t number);
  JsonText& add(std::string_view name, int number) {
    return add(name, static_cast<std::int64_t>(number));
  }
  JsonText& add(std::string_view name, bool truth);
  JsonText& add(std::string_view name, JsonText const& object);
  template <class Value>
  JsonText& add(std::string_view name, std::vector<Value> const& values) {
    begin(name);
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      value(values[i]);
    }
    text_ += ']';
    return *this;
  }

  std::string text() const { return text_ + "}"; }

 private:
  void begin(std::string_view name);
  void value(std::string_view text);
  void value(std::string const& text) { value(std::string_view(text)); }
  void value(double number);
  void value(float number) { value(static_cast<double>(number)); }
  void value(std::int64_t number) { text_ += std::to_string(number); }
  void value(int number) { text_ += std::to_string(number); }
  void value(JsonText const& object) { text_ += object.text(); }

  std::string text_ = "{";
};

}  // namespace blockspan::capi
