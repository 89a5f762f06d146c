#include "json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace blockspan::capi {

void JsonText::value(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  text_ += '"';
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += "\\u00";
      text_ += digits[static_cast<unsigned char>(c) >> 4];
      text_ += digits[static_cast<unsigned char>(c) & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonText::value(double number) {
  if (!std::isfinite(number)) {
    text_ += "null";
    return;
  }
  std::array<char, 32> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text_.append(digits.data(), end);
}

}  // namespace blockspan::capi
