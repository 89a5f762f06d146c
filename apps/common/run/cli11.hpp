#pragma once

// CLI11, also for HIP. Clang before 18 looks up the operator delete of a new-expression in a
// default member initializer, which is in no function, as if that ran on the device, and then
// refuses it; for one with a placement it takes the host's. CLI::App has two. (Met elsewhere:
// Alpine-DAV/ascent#1013.)

#if defined(__HIP__) && __clang_major__ < 18
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/ConfigFwd.hpp>
#include <CLI/FormatterFwd.hpp>
#include <CLI/Option.hpp>
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#define new new (std::nothrow)
#include <CLI/App.hpp>
#undef new
#pragma clang diagnostic pop
#endif
#include <CLI/CLI.hpp>
