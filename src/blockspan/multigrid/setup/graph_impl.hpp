#pragma once

#include <cstdint>

#include <blockspan/multigrid/setup/graph.hpp>
#include <blockspan/multigrid/setup/multiply_values.hpp>
#include <blockspan/support/error.hpp>

// Aggregation: nodes of several rows, and roots that are pairwise more than two edges apart, found
// by rounds in parallel with the same result for any number of threads.

namespace blockspan::levels {

template <class Exec>
NodePartition<Exec> equal_nodes(Exec const& exec, Arena<Exec>& arena, std::int64_t first, int rows,
                                int size) {
  int const before = static_cast<int>(first % size);
  int const count = rows == 0 ? 0 : (before + rows + size - 1) / size;
  NodePartition<Exec> nodes{count, kept_array<int>(exec, arena, rows),
                            kept_array<int>(exec, arena, count + 1), size};
  auto const of_row = nodes.of_row, begin = nodes.begin;
  each(
      exec, "Blockspan::multigrid_nodes", rows,
      KOKKOS_LAMBDA(std::int64_t i) { of_row(i) = static_cast<int>((before + i) / size); });
  each(
      exec, "Blockspan::multigrid_nodes", count + 1, KOKKOS_LAMBDA(std::int64_t i) {
        begin(i) = i == count ? rows : i == 0 ? 0 : static_cast<int>(i * size) - before;
      });
  return nodes;
}

/// State of a node in the search for an independent set, ordered for minima: in the set, undecided
/// (within a round, a priority), out of the set.
using NodeState = std::uint64_t;
inline constexpr NodeState state_in = 0, state_open = 1, state_out = ~NodeState{0};

KOKKOS_INLINE_FUNCTION bool is_open(NodeState state) {
  return state != state_in && state != state_out;
}

/// A priority of 31 pseudo-random bits, made distinct by the index of the node.
KOKKOS_INLINE_FUNCTION NodeState priority(int round, std::int64_t node) {
  std::uint64_t x =
      (static_cast<std::uint64_t>(round + 1) << 32 | static_cast<std::uint64_t>(node)) *
      0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  return ((x >> 33) + 1) << 32 | static_cast<std::uint64_t>(node);
}

/// A maximal set of nodes with pairwise distance above two.
template <class Exec>
class IndependentSet {
 public:
  using States = Array<NodeState, Exec>;
  States state;

  IndependentSet(Exec const& exec, Arena<Exec>& arena, Pattern<Exec> const& edges)
      : exec_(exec), edges_(edges), workers_(exec, edges.rows, 0) {
    auto const states = scratch_arrays<NodeState, 2>(exec, arena, edges.rows);
    state = states[0];
    nearer_ = states[1];
    if constexpr (runs_on_host_v<Exec>) {
      auto const lists = scratch_arrays<int, 2>(exec, arena, edges.rows);
      open_ = {lists[0], scratch_array<int>(exec, arena, workers_.count)};
      unsure_ = {lists[1], scratch_array<int>(exec, arena, workers_.count)};
    }
  }

  /// Among the nodes where in_play is nonzero, for distances by paths through these. Returns the
  /// number of rounds.
  int find(Integers<Exec> const& in_play) {
    start(in_play);
    for (int round = 0;; ++round) {
      std::int64_t undecided = 0;
      if constexpr (runs_on_host_v<Exec>)
        undecided = play_listed(round);
      else
        undecided = play(round);
      if (undecided == 0) return round + 1;
    }
  }

  void start(Integers<Exec> const& in_play) {
    auto const t = state, nearer = nearer_;
    each(
        exec_, "Blockspan::multigrid_mis_start", edges_.rows,
        KOKKOS_LAMBDA(std::int64_t i) { t(i) = nearer(i) = in_play(i) ? state_open : state_out; });
    if constexpr (runs_on_host_v<Exec>)
      for (auto const& list : {open_, unsure_})
        each(exec_, "Blockspan::multigrid_mis_start", workers_.count, [=, this](std::int64_t w) {
          auto const range = workers_.rows_of(w);
          int count = 0;
          for (std::int64_t i = range.first; i < range.last; ++i)
            if (in_play(i)) list.nodes(range.first + count++) = static_cast<int>(i);
          list.counts(w) = count;
        });
  }

  /// One round; returns the number of undecided nodes.
  std::int64_t play(int round) {
    auto const t = state, nearer = nearer_;
    auto const G = edges_.ref();
    look_around(round);
    each(
        exec_, "Blockspan::multigrid_mis_in", edges_.rows, KOKKOS_LAMBDA(std::int64_t i) {
          if (is_open(t(i)) && least_near(G, nearer, i, round) == priority(round, i))
            t(i) = state_in;
        });
    look_around(round);
    return count_each(
        exec_, "Blockspan::multigrid_mis_out", edges_.rows,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t & undecided) {
          if (!is_open(t(i))) return;
          if (least_near(G, nearer, i, round) == state_in)
            t(i) = state_out;
          else
            ++undecided;
        });
  }

  /// The same on hosts: each worker traverses lists of its unsettled nodes, and the state of an
  /// undecided node is its priority in the round.
  std::int64_t play_listed(int round) {
    auto const t = state, nearer = nearer_;
    auto const G = edges_.ref();
    for_listed(open_, [=](int i) {
      t(i) = priority(round, i);
      return true;
    });
    for_listed(unsure_, [=](int i) {
      nearer(i) = least_near(G, t, i, round);
      return true;
    });
    for_listed(open_, [=](int i) {
      if (least_near(G, nearer, i, round) == t(i)) t(i) = state_in;
      return true;
    });
    for_listed(unsure_, [=](int i) {
      nearer(i) = least_near(G, t, i, round);
      return is_open(nearer(i));
    });
    return for_listed(open_, [=](int i) {
      if (is_open(t(i)) && least_near(G, nearer, i, round) == state_in) t(i) = state_out;
      return is_open(t(i));
    });
  }

  /// nearer_ := the least state of a node and its neighbours; the minimum of these is the least
  /// state within distance two. It is final where a neighbour is in the set or all are out.
  void look_around(int round) {
    auto const G = edges_.ref();
    auto const from = state, to = nearer_;
    each(
        exec_, "Blockspan::multigrid_mis_spread", edges_.rows, KOKKOS_LAMBDA(std::int64_t i) {
          if (is_open(to(i))) to(i) = least_near(G, from, i, round);
        });
  }

  /// Undecided nodes are compared by their priorities in the round.
  KOKKOS_FUNCTION static NodeState least_near(PatternRef<int, int> const& G, States const& of,
                                              std::int64_t i, int round) {
    auto const in_round = [&](std::int64_t j) {
      NodeState const other = of(j);
      return other == state_open ? priority(round, j) : other;
    };
    NodeState least = in_round(i);
    for (int k = G.row_offsets[i]; k < G.row_offsets[i + 1]; ++k) {
      NodeState const other = in_round(G.column_indices[k]);
      if (other < least) least = other;
    }
    return least;
  }

 private:
  /// The nodes of each worker, stored from the first of its rows on.
  struct Lists {
    Integers<Exec> nodes, counts;
  };

  /// Keeps the nodes for which visit returns true; returns their number.
  template <class Visit>
  std::int64_t for_listed(Lists const& lists, Visit const& visit) const {
    return count_each(exec_, "Blockspan::multigrid_mis", workers_.count,
                      [=, this](std::int64_t w, std::int64_t& sum) {
                        int* const nodes = lists.nodes.data() + workers_.rows_of(w).first;
                        int kept = 0;
                        for (int k = 0; k < lists.counts(w); ++k) {
                          int const node = nodes[k];
                          nodes[kept] = node;
                          kept += visit(node) ? 1 : 0;
                        }
                        lists.counts(w) = kept;
                        sum += kept;
                      });
  }

  Exec exec_;
  Pattern<Exec> edges_;
  Workers workers_;
  States nearer_;
  Lists open_, unsure_;  ///< hosts: undecided nodes, and nodes near undecided ones
};

/// label(i) := the root that i is or is adjacent to, for nodes in play.
template <class Exec>
void join_roots(Exec const& exec, Pattern<Exec> const& edges, Integers<Exec> const& in_play,
                Integers<Exec> const& is_root, Integers<Exec> const& label) {
  auto const G = edges.ref();
  each(
      exec, "Blockspan::multigrid_join_roots", edges.rows, KOKKOS_LAMBDA(std::int64_t i) {
        if (!in_play(i)) return;
        if (is_root(i)) label(i) = static_cast<int>(i);
        for (int k = G.row_offsets[i]; label(i) < 0 && k < G.row_offsets[i + 1]; ++k)
          if (is_root(G.column_indices[k])) label(i) = G.column_indices[k];
      });
}

/// Roots with fewer than `least` neighbours in play are dropped.
template <class Exec>
void choose_roots(Exec const& exec, Pattern<Exec> const& edges, Integers<Exec> const& in_play,
                  typename IndependentSet<Exec>::States const& state, int least,
                  Integers<Exec> const& is_root) {
  auto const G = edges.ref();
  each(
      exec, "Blockspan::multigrid_roots", edges.rows, KOKKOS_LAMBDA(std::int64_t i) {
        bool const is = state(i) == state_in;
        int neighbours = 0;
        for (int k = G.row_offsets[i]; is && neighbours < least && k < G.row_offsets[i + 1]; ++k)
          if (G.column_indices[k] != i && in_play(G.column_indices[k])) ++neighbours;
        is_root(i) = is && neighbours >= least ? 1 : 0;
      });
}

/// One round: nodes without a label take the label of the adjacent aggregate with the largest sum
/// of weights. Returns the number of nodes without a label.
template <class Exec>
std::int64_t join_strongest(Exec const& exec, WeightedGraph<Exec> const& graph,
                            Integers<Exec> const& label, Integers<Exec> const& next) {
  auto const G = graph.edges.ref();
  auto const weights = graph.weights;
  auto const left = count_each(
      exec, "Blockspan::multigrid_join", G.rows,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & without) {
        constexpr int none = Kokkos::Experimental::finite_max_v<int>;
        int chosen = label(i);
        double most = 0;
        // one label after another, ascending: a node has few adjacent labels
        for (int last = -1; label(i) < 0;) {
          int least = none;
          double sum = 0;
          for (int k = G.row_offsets[i]; k < G.row_offsets[i + 1]; ++k) {
            int const other = label(G.column_indices[k]);
            if (other <= last || other > least) continue;
            sum = other == least ? sum + weights(k) : weights(k);
            least = other;
          }
          if (least == none) break;
          if (sum > most) most = sum, chosen = least;
          last = least;
        }
        next(i) = chosen;
        if (chosen < 0 && G.row_offsets[i + 1] > G.row_offsets[i]) ++without;
      });
  Kokkos::deep_copy(exec, label, next);
  return left;
}

/// The number of nodes of the largest class.
template <class Exec>
std::int64_t largest_class(Exec const& exec, Arena<Exec>& arena, Integers<Exec> const& class_of,
                           int classes) {
  auto const sizes = scratch_array<int>(exec, arena, classes);
  Kokkos::deep_copy(exec, sizes, 0);
  each(
      exec, "Blockspan::multigrid_sizes", static_cast<std::int64_t>(class_of.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) {
        if (class_of(i) >= 0) Kokkos::atomic_inc(&sizes(class_of(i)));
      });
  return most_each(
      exec, "Blockspan::multigrid_largest", classes,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & most) {
        if (sizes(i) > most) most = sizes(i);
      });
}

/// Numbers aggregates in the order of their roots.
template <class Exec>
Aggregates<Exec> number_aggregates(Exec const& exec, Arena<Exec>& arena,
                                   Integers<Exec> const& label, int rounds) {
  auto const n = static_cast<std::int64_t>(label.extent(0));
  auto const numbers = scratch_array<int>(exec, arena, n + 1);
  each(
      exec, "Blockspan::multigrid_number", n,
      KOKKOS_LAMBDA(std::int64_t i) { numbers(i) = label(i) == i ? 1 : 0; });
  Aggregates<Exec> result;
  result.rounds = rounds;
  result.count = offsets_of_counts(exec, numbers);
  result.of_node = scratch_array<int>(exec, arena, n);
  auto const of_node = result.of_node;
  result.left_out = count_each(
      exec, "Blockspan::multigrid_number", n, KOKKOS_LAMBDA(std::int64_t i, std::int64_t & out) {
        of_node(i) = label(i) < 0 ? -1 : numbers(label(i));
        if (label(i) < 0) ++out;
      });
  result.largest = largest_class(exec, arena, of_node, result.count);
  return result;
}

template <class Exec>
Aggregates<Exec> aggregate(Exec const& exec, Arena<Exec>& arena, WeightedGraph<Exec> const& graph) {
  auto const& edges = graph.edges;
  std::int64_t const n = edges.rows;
  auto const parts = scratch_arrays<int, 4>(exec, arena, n);
  auto const label = parts[0], in_play = parts[1], is_root = parts[2], next = parts[3];
  auto const G = edges.ref();
  each(
      exec, "Blockspan::multigrid_start", n, KOKKOS_LAMBDA(std::int64_t i) {
        label(i) = -1;
        in_play(i) = G.row_offsets[i + 1] > G.row_offsets[i] ? 1 : 0;
      });
  IndependentSet<Exec> set(exec, arena, edges);
  int const rounds = set.find(in_play);
  choose_roots(exec, edges, in_play, set.state, 0, is_root);
  join_roots(exec, edges, in_play, is_root, label);
  each(
      exec, "Blockspan::multigrid_left", n,
      KOKKOS_LAMBDA(std::int64_t i) { in_play(i) = in_play(i) && label(i) < 0 ? 1 : 0; });
  set.find(in_play);
  choose_roots(exec, edges, in_play, set.state, 2, is_root);
  join_roots(exec, edges, in_play, is_root, label);
  for (std::int64_t left = n + 1;;) {
    auto const now = join_strongest(exec, graph, label, next);
    if (now == 0 || now >= left) break;
    left = now;
  }
  return number_aggregates(exec, arena, label, rounds);
}

template <class Exec>
Aggregates<Exec> aggregate_again(Exec const& exec, Arena<Exec>& arena,
                                 WeightedGraph<Exec> const& graph, Aggregates<Exec> const& fine) {
  auto const of = fine.of_node;
  auto const n = static_cast<std::int64_t>(of.extent(0));
  // the graph of aggregates: sums of the weights between them
  auto const lists = members(exec, arena, of, fine.count);
  auto const membership = transposed(exec, arena, lists).pattern;
  auto const ones = scratch_array<double>(exec, arena, lists.entries());
  Kokkos::deep_copy(exec, ones, 1.0);
  auto const half = multiply_patterns(exec, arena, graph.edges.ref(), membership.ref());
  auto const half_values = scratch_array<double>(exec, arena, half.entries());
  multiply_values<Exec, double>(exec, arena, {graph.edges.ref(), graph.weights.data()},
                                {membership.ref(), ones.data()}, half, half_values);
  WeightedGraph<Exec> coarse{multiply_patterns(exec, arena, lists.ref(), half.ref()), {}};
  coarse.weights = scratch_array<double>(exec, arena, coarse.edges.entries());
  multiply_values<Exec, double>(exec, arena, {lists.ref(), ones.data()},
                                {half.ref(), half_values.data()}, coarse.edges, coarse.weights);
  auto const again = aggregate(exec, arena, coarse);
  auto const label = scratch_array<int>(exec, arena, n);
  auto const coarse_of = again.of_node;
  Aggregates<Exec> result = again;
  result.of_node = label;
  result.left_out = fine.left_out;
  each(
      exec, "Blockspan::multigrid_compose", n,
      KOKKOS_LAMBDA(std::int64_t i) { label(i) = of(i) < 0 ? -1 : coarse_of(of(i)); });
  result.largest = largest_class(exec, arena, label, result.count);
  return result;
}

}  // namespace blockspan::levels
