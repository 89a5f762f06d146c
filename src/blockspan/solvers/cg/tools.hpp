#pragma once

#include <memory>

#include <blockspan/solvers/cg/block_cg.hpp>
#include <blockspan/solvers/cg/null_space.hpp>
#include <blockspan/solvers/cg/pseudo_block_cg.hpp>

namespace blockspan::detail {

/// Blocks and methods, shared by all groups of columns.
template <class Scalar, class Exec>
struct CgTools {
  CgTools(CgProblem<Scalar, Exec>& problem, CgControl<Scalar, Exec>& control_, int most)
      : control(control_), blocks(problem.exec, problem.rows(), most), most_(most) {}

  PseudoBlockCg<Scalar, Exec>& pseudo_block(CgProblem<Scalar, Exec>& problem) {
    if (!pseudo_block_)
      pseudo_block_ = std::make_unique<PseudoBlockCg<Scalar, Exec>>(problem, blocks, most_);
    return *pseudo_block_;
  }
  BlockCg<Scalar, Exec>& block(CgProblem<Scalar, Exec>& problem) {
    if (!block_) block_ = std::make_unique<BlockCg<Scalar, Exec>>(problem, blocks, most_);
    return *block_;
  }

  CgControl<Scalar, Exec>& control;
  CgBlocks<Scalar, Exec> blocks;
  NullSpace<Scalar, Exec> null_space;  ///< as far as it is known
  int looked_after = -1;               ///< the iterations before the last look at A's entries

 private:
  int most_;
  std::unique_ptr<PseudoBlockCg<Scalar, Exec>> pseudo_block_;
  std::unique_ptr<BlockCg<Scalar, Exec>> block_;
};

}  // namespace blockspan::detail
