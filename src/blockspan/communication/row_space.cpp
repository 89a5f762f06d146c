#include <algorithm>
#include <utility>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {
namespace {

/// Node `index` of a level: the units [index 2^level, (index + 1) 2^level).
struct Node {
  int level;
  std::int64_t index;

  std::int64_t first() const { return index << level; }
  std::int64_t last() const { return (index + 1) << level; }
};

/// The largest nodes that partition the units [first, last).
std::vector<Node> cover(std::int64_t first, std::int64_t last) {
  std::vector<Node> nodes;
  while (first < last) {
    int level = 0;
    while (first >> level & 1 ? false : first + (std::int64_t{2} << level) <= last) ++level;
    nodes.push_back({level, first >> level});
    first = nodes.back().last();
  }
  return nodes;
}

/// The joins of adjacent nodes up to the root, the right into the left.
std::vector<std::pair<std::int64_t, std::int64_t>> joins_of(std::vector<Node> const& nodes) {
  struct Waiting {
    Node node;
    std::int64_t place;
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> joins;
  std::vector<Waiting> stack;
  auto const join = [&] {
    std::int64_t const from = stack.back().place;
    stack.pop_back();
    joins.emplace_back(stack.back().place, from);
  };
  for (auto const& node : nodes) {
    stack.push_back({node, static_cast<std::int64_t>(stack.empty() ? 0 : -1)});
    stack.back().place = &node - nodes.data();
    while (stack.size() > 1) {
      Node const right = stack.back().node, left = stack[stack.size() - 2].node;
      if (left.level != right.level || right.index % 2 == 0) break;
      join();
      stack.back().node = {left.level + 1, left.index / 2};
    }
  }
  while (stack.size() > 1) join();  // those without a right neighbour have been passed up
  return joins;
}

}  // namespace

struct RowSpace::State {
  Communicator communicator;
  std::vector<std::int64_t> cuts;
  std::int64_t unit = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> mine, joins;
  std::vector<std::int64_t> nodes_of_rank;
  std::int64_t my_first = 0, all = 0, most = 0;  ///< nodes; most: of a rank
  int first_with_rows = 0;
};

RowSpace::RowSpace(Communicator communicator, std::vector<std::int64_t> cuts, std::int64_t unit) {
  constexpr auto where = "RowSpace";
  int const ranks = communicator.size(), me = communicator.rank();
  require(static_cast<int>(cuts.size()) == ranks + 1 && cuts.front() == 0, where, cuts.size(),
          " cuts of ", ranks, " ranks; there must be one more than ranks, the first 0");
  auto state = std::make_shared<State>();
  std::vector<Node> nodes;
  for (int r = 0; r < ranks; ++r) {
    std::int64_t const first = cuts[r], last = cuts[r + 1];
    require(first <= last, where, "rank ", r, " begins at row ", first, ", rank ", r + 1, " at ",
            last);
    std::vector<Node> own;
    if (unit > 0 && first < last) {
      std::int64_t const units = ceil_div(last, unit) - first / unit;
      require(first % unit == 0 && (last % unit == 0 || last == cuts.back()), where, "rows ", first,
              " to ", last, " of rank ", r, " are no multiples of ", unit);
      require(units <= most_units, where, units, " units of ", unit, " rows on rank ", r,
              "; at most ", most_units);
      own = cover(first / unit, ceil_div(last, unit));
    } else if (first < last) {
      own = {{0, static_cast<std::int64_t>(nodes.size())}};
    }
    if (nodes.empty()) state->first_with_rows = r;
    state->most = std::max(state->most, static_cast<std::int64_t>(own.size()));
    if (r == me) state->my_first = static_cast<std::int64_t>(nodes.size());
    for (auto const& node : own) {
      if (r == me)
        state->mine.emplace_back(
            unit > 0 ? node.first() * unit - first : 0,
            unit > 0 ? std::min(node.last() * unit, last) - first : last - first);
      nodes.push_back(node);
    }
    state->nodes_of_rank.push_back(static_cast<std::int64_t>(own.size()));
  }
  state->joins = joins_of(nodes);
  state->all = static_cast<std::int64_t>(nodes.size());
  state->communicator = std::move(communicator);
  state->cuts = std::move(cuts);
  state->unit = unit;
  state_ = std::move(state);
}

Communicator const& RowSpace::communicator() const {
  static Communicator const alone;
  return state_ ? state_->communicator : alone;
}
DeviceTransport* RowSpace::device_sums() const {
  if (!distributed()) return nullptr;
  bool const each_gives = state_->unit > 0 ? state_->all > 0 : state_->all == communicator().size();
  return each_gives ? communicator().device() : nullptr;
}
std::int64_t RowSpace::first_row() const {
  return state_ ? state_->cuts[static_cast<std::size_t>(communicator().rank())] : 0;
}
std::int64_t RowSpace::global_rows(std::int64_t local) const {
  return state_ ? state_->cuts.back() : local;
}
std::vector<std::int64_t> const& RowSpace::cuts() const {
  static std::vector<std::int64_t> const none;
  return state_ ? state_->cuts : none;
}
std::pair<std::int64_t, std::int64_t> RowSpace::range(int rank, std::int64_t local) const {
  if (!state_) return {0, local};
  auto const r = static_cast<std::size_t>(rank);
  return {state_->cuts[r], state_->cuts[r + 1]};
}
std::int64_t RowSpace::unit() const { return state_ ? state_->unit : 0; }

void RowSpace::require_rows(std::int64_t local, char const* where) const {
  if (!state_) return;
  auto const me = static_cast<std::size_t>(communicator().rank());
  std::int64_t const rows = state_->cuts[me + 1] - state_->cuts[me];
  require(local == rows, where, "a block of ", local, " rows, but this rank has ", rows);
}

bool RowSpace::operator==(RowSpace const& other) const {
  if (state_ == other.state_) return true;
  if (!state_ || !other.state_) return !distributed() && !other.distributed();
  return state_->cuts == other.state_->cuts && state_->unit == other.state_->unit;
}

std::vector<std::pair<std::int64_t, std::int64_t>> const& RowSpace::nodes() const {
  static std::vector<std::pair<std::int64_t, std::int64_t>> const none;
  return state_ ? state_->mine : none;
}
std::int64_t RowSpace::nodes_of_all() const { return state_ ? state_->all : 0; }
std::int64_t RowSpace::my_first_node() const { return state_ ? state_->my_first : 0; }
std::vector<std::pair<std::int64_t, std::int64_t>> const& RowSpace::joins() const {
  return state_->joins;
}

std::int64_t RowSpace::most_nodes_of_rank() const { return state_ ? state_->most : 1; }
std::int64_t RowSpace::padded_root() const { return state_->first_with_rows * state_->most; }

std::vector<std::pair<std::int64_t, std::int64_t>> RowSpace::padded_joins() const {
  std::int64_t const most = most_nodes_of_rank();
  std::vector<std::int64_t> places;
  for (std::size_t r = 0; r < state_->nodes_of_rank.size(); ++r)
    for (std::int64_t k = 0; k < state_->nodes_of_rank[r]; ++k)
      places.push_back(static_cast<std::int64_t>(r) * most + k);
  auto padded = joins();
  for (auto& [into, from] : padded) {
    into = places[static_cast<std::size_t>(into)];
    from = places[static_cast<std::size_t>(from)];
  }
  return padded;
}

void RowSpace::gather(std::byte* values, std::int64_t bytes_of_node) const {
  std::vector<std::int64_t> sizes = state_->nodes_of_rank;
  for (auto& size : sizes) size *= bytes_of_node;
  auto const bytes = [&](std::int64_t count) {
    return static_cast<std::size_t>(count * bytes_of_node);
  };
  // this rank's part is inside the result: a copy, since buffers of gathers may not overlap
  std::byte const* const first = values + bytes(state_->my_first);
  std::vector<std::byte> const mine(first,
                                    first + bytes(static_cast<std::int64_t>(state_->mine.size())));
  state_->communicator.gather(mine, {values, bytes(state_->all)}, sizes);
}

}  // namespace blockspan
