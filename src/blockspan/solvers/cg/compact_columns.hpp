#pragma once

#include <vector>

#include <blockspan/solvers/cg/pseudo_block_cg.hpp>

namespace blockspan::detail {

/// Takes the columns that rest out of the block, adds them to X, and moves the others together.
template <class Scalar, class Exec>
void PseudoBlockCg<Scalar, Exec>::compact() {
  auto const timer = problem_.time(problem_.seconds.update);
  ++problem_.counters.compactions;
  replay_.forget();
  std::vector<int> kept, done;
  for (int c = 0; c < width(); ++c) (live_[places_[c]] ? kept : done).push_back(c);
  add(done);
  int const now = static_cast<int>(kept.size());
  ones_.assign(now, Real(1));
  auto const move = [&](View const& from) {
    problem_.select_scaled(block_ref<Exec>(from), kept, ones_, blocks_.spare(now));
  };
  move(blocks_.correction(width()));
  blocks_.swap_correction();
  move(blocks_.direction(width()));
  blocks_.swap_direction();
  move(blocks_.residual(width()));
  blocks_.swap_residual();
  std::vector<int> places;
  for (int const c : kept) places.push_back(places_[c]);
  places_ = places;
  numbers_.keep(kept);
  numbers_.upload();
  problem_.synchronize("Blockspan::cg: columns moved");
}

}  // namespace blockspan::detail
