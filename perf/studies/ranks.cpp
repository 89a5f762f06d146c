#include "studies/studies.hpp"

namespace blockspan::perf {

Study ranks() {
  Study study;
  study.name = "ranks";
  study.title = "Rows spread over ranks, beside one rank that has as many alone";
  study.reproduces =
      "Weak scaling: products, how much of their exchange they hide, the same work in the order of "
      "others, sums over ranks, and iterations of solvers; and what a model of these measurements "
      "expects of more ranks.";
  study.note =
      "Milliseconds of the slowest rank. Alone: one rank with the rows of the second column. "
      "Together: all ranks, the interior of the product beside the exchange. Local: the same "
      "product without exchange; in turn: one after the other, as PETSc's products of blocks "
      "(exchange last) and Tpetra's (exchange first) do; by the host: what is on devices goes by "
      "way of page-locked memory and MPI. Hidden: of the exchange or of the local work, whichever "
      "is shorter. Same bits: with the option that makes them those of any number of ranks. A "
      "sample of rows of each product is compared with sums over rows that the "
      "generator makes by themselves. Solvers: milliseconds an iteration, of a fixed number of "
      "steps; all-reduce: MPI's, on numbers of the host.";
  study.table = {{"all ranks", "matrix"},
                 {"rows of a rank", "note:one"},
                 {"solver", "note:method"},
                 {"n", "columns"},
                 {"alone", "ms:alone"},
                 {"together", "ms:auto"},
                 {"efficiency", "speedup:auto:alone"},
                 {"local", "ms:local"},
                 {"pack", "ms:pack"},
                 {"exchange", "ms:exchange"},
                 {"hidden", "note:hidden"},
                 {"in turn", "ms:in_turn"},
                 {"by the host", "ms:by_host"},
                 {"same bits", "ms:same_bits"},
                 {"gather and fold", "ms:fold"},
                 {"gather between devices", "ms:device_gather"},
                 {"all-reduce", "ms:all_reduce"}};
  study.plots = {{.name = "products",
                  .title = "Products",
                  .x = "note:block",
                  .curves = {{"alone", "ms:alone"},
                             {"together", "ms:auto"},
                             {"in turn", "ms:in_turn"},
                             {"by the host", "ms:by_host"}},
                  .y = "ms"}};
  return study;
}

Study ranks_plan() {
  Study study;
  study.name = "ranks_plan";
  study.title = "What many ranks would exchange in a product";
  study.reproduces =
      "Counts of rows, nonzeros, halo rows, neighbours and bytes of up to 1,024 ranks, all played "
      "by one process that has the matrix. Nothing is multiplied.";
  study.note =
      "Slabs: whole chunks of neighbouring rows, balanced by nonzeros, as distribute cuts them. "
      "Bricks: equal parts along each axis, where rows have places in space. Imbalance: the "
      "largest over the mean. Halo: rows that the largest rank receives, and the mean; MB: of the "
      "largest, in a product with that many columns of doubles.";
  study.table = {{"ranks", "note:ranks"}, {"rows a rank", "note:rows_a_rank"}, {"n", "columns"}};
  for (std::string const parts : {"slabs", "bricks"})
    for (auto const& [head, member] : {std::pair("imbalance of rows", "rows"),
                                       {"of nonzeros", "nonzeros"},
                                       {"halo", "halo"},
                                       {"mean", "halo_mean"},
                                       {"neighbours", "neighbours"},
                                       {"mean", "neighbours_mean"},
                                       {"MB", "megabytes"}})
      study.table.push_back({(std::string(member) == "rows" ? parts + ": " : "") + head,
                             "note:" + parts + "." + member});
  study.plots = {{.name = "halo",
                  .title = "Halo",
                  .x = "note:ranks",
                  .curves = {{"slabs", "note:slabs.halo"}, {"bricks", "note:bricks.halo"}},
                  .log_x = true,
                  .log_y = true,
                  .y = "rows that the largest rank receives"}};
  return study;
}

}  // namespace blockspan::perf
