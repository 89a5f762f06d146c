#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"
#include "common/files/json_document.hpp"
#include "common/run/progress.hpp"

namespace blockspan::apps {

/// Why a run was by factors, where that was asked for.
inline constexpr char const* factors_of_pencil = "factors of A - shift M";

ExactOptions exact_options(EigCommand const& command);

/// The live line of a step: the shift, what was found, the rest that is expected of an interval.
void show_step(ProgressLine& progress, ExactProgress const& now);

/// Shows each step, and ends the run where the user does.
std::function<bool(ExactProgress const&)> exact_monitor(ProgressLine& progress);

/// Makes the pairs of result.exact those of the solver, for the check and the table. reason: why
/// they were found by factors.
void take_exact_pairs(EigResult& result, std::string reason = factors_of_pencil);

/// Whether --path auto may find the smallest pairs by factors, as far as the command says.
bool may_take_factors(EigCommand const& command);

/// Whether a count shows that no pair of the solve is missing.
bool counts_pairs(EigCommand const& command);

/// What the counts say, a sentence each.
std::string proof_in_words(EigCommand const& command, ExactReport const& report);
std::string count_in_words(EigenCount const& count);

/// A place above the last pair of a certified solve, below the next one where that is known.
double place_above(EigResult const& result, double next);

/// Says what a count of all below `place` means for the pairs found, and takes success back where
/// it says that one is missing.
void judge_count(EigResult& result, double place, double next);

void print_exact(std::ostream& out, EigCommand const& command, EigResult const& result);

/// Null where nothing of the kind was asked for.
Json exact_json(EigCommand const& command, EigResult const& result);

}  // namespace blockspan::apps
