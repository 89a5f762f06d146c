#pragma once

#include <blockspan/spmm/detail/tuning/groups.hpp>
#include <blockspan/spmm/detail/tuning/hosts.hpp>
#include <blockspan/spmm/detail/tuning/lanes.hpp>
#include <blockspan/spmm/detail/tuning/model.hpp>
#include <blockspan/spmm/detail/tuning/panels.hpp>
#include <blockspan/spmm/detail/tuning/teams.hpp>
#include <blockspan/spmm/detail/tuning/windows.hpp>

/// Every number that was chosen rather than derived, with what chose it, by what it is of; those
/// that one kernel alone reads are in its file. "Same machine" is the one of the first figures in
/// lanes.hpp.
namespace blockspan::detail::tuning {}
