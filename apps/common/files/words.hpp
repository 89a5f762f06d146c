#pragma once

#include <string>

#include <blockspan/solvers/status.hpp>

namespace blockspan::apps {

/// The state of one pair or column in a table: "converged", "at attainable limit", ...
std::string words(Status status);

/// A message of the library without the names of C++ that it may begin with ("blockspan::SpmmPlan:
/// ..."), which mean nothing to who uses a program, and with the options of multigrid by the names
/// that they have here (--block-size).
std::string without_cpp_names(std::string message);

/// 12345678 as "12,345,678".
std::string grouped(long long number);

/// A number by a format of printf for one double, such as "%8.3f".
std::string formatted(char const* format, double value);

}  // namespace blockspan::apps
