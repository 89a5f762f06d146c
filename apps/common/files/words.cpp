#include "common/files/words.hpp"

#include <algorithm>
#include <cstdio>
#include <regex>
#include <string_view>

namespace blockspan::apps {

std::string words(Status status) {
  if (status == Status::attainable_limit) return "at attainable limit";
  if (status == Status::zero_eigenvalue) return "zero";
  std::string text(to_string(status));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string without_cpp_names(std::string message) {
  constexpr char const* letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:";
  for (std::size_t at = 0; (at = message.find("blockspan::", at)) != message.npos;) {
    auto const end = std::min(message.find_first_not_of(letters, at), message.size());
    bool const is_place = message[end - 1] == ':' && end < message.size();  // "name: what"
    message.erase(at, is_place ? end + 1 - at : std::string("blockspan::").size());
  }
  for (std::string const name : {"convert_values: ", "read_matrix_market: ", "write_block: "})
    if (message.rfind(name, 0) == 0) message.erase(0, name.size());
  constexpr std::string_view null_space = "CgOptions::null_space";
  if (message.rfind(null_space, 0) == 0) message.replace(0, null_space.size(), "--null-space");
  static std::regex const options(
      "(^|: |give |, | or )(block_size|near_null|coordinates|adaptive)(?= is | has | or |, |$)");
  message = std::regex_replace(message, options, "$1--$2");
  for (std::string const name : {"--block_size", "--near_null"})
    for (std::size_t at = 0; (at = message.find(name, at)) != message.npos;)
      message[message.find('_', at)] = '-';
  return message;
}

std::string grouped(long long number) {
  std::string text = std::to_string(number);
  for (auto end = static_cast<long long>(text.size()) - 3; end > (number < 0 ? 1 : 0); end -= 3)
    text.insert(static_cast<std::size_t>(end), 1, ',');
  return text;
}

std::string formatted(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace blockspan::apps
