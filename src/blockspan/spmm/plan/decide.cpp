#include <algorithm>
#include <optional>

#include <climits>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/kernels/sixteen_bit/sixteen_bit_choice.hpp>
#include <blockspan/spmm/kernels/windows/windows_choice.hpp>
#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {
namespace {

using namespace tuning;

/// The decisions about one product.
class Decider {
 public:
  Decider(PatternFacts const& A, SpmmChoice const& choice, BlockFacts const& blocks,
          DeviceFacts const& device)
      : A_(A), choice_(choice), blocks_(blocks), device_(device) {}

  Decision product() {
    if (blocks_.scalar.is_sixteen_bit()) return decide_sixteen_bit(choice_, blocks_, device_);
    auto const& chosen = *choice_.variant;
    Decision decision;
    if (blocks_.sums) {
      if (auto const launch = sums()) {
        decision.launches = {*launch};
        decision.fuses_sums = true;
        decision.fills_empty_rows = launch->variant->skips_empty_rows();
        return decision;
      }
    }
    if (blocks_.steps) {
      if (takes_step()) decide_launches(decision, false);
      decision.fuses_step = !decision.launches.empty();
      return decision;
    }
    if (chosen.as_it_is) return {.launches = {launch_of(chosen, blocks_.columns)}};
    if (blocks_.may_copy && !device_.is_host && column_major_decided(decision)) return decision;
    if (blocks_.may_copy && chosen.vectorized && should_copy_on_host())
      copy_x(decision, BlockCopy::row_major);
    decide_launches(decision, blocks_.must_run);
    return decision;
  }

  /// The launch with fused dot products, if there is one.
  std::optional<Launch> sums() const {
    if (!blocks_.x_rows_near) return {};
    if (!device_.lanes_exchange || A_.rows.rows * blocks_.columns == 0) return {};
    if (!A_.values_in_order()) return {};  // its kernels know no permutation
    bool const asked = blocks_.must_run;
    SpmmVariant const* variant = asked ? choice_.variant : &fallback_of(A_, choice_);
    bool const is_fallback = variant != choice_.variant && serves(*choice_.variant);
    if (is_fallback && gains_a_pass() && is_taken()) return {};
    if (variant->skips_empty_rows() && !blocks_.overwrites) return {};
    bool const vectorized = variant->vectorized && blocks_.x.vectors && blocks_.y.vectors;
    if (variant->requires_aligned_x && !vectorized) {
      if (asked) return {};  // the product reports the error
      variant = &spmm_variant(SpmmKernelId::single_columns);
    }
    if (!sums_products(*variant)) return {};
    Launch launch = launch_of(*variant, blocks_.columns);
    launch.vectorized = vectorized;
    launch.lanes = lanes_of_dots(launch);
    std::int64_t const team_size =
        tuning::device_threads >> launch.lanes.grid.column_bits >> launch.lanes.grid.entry_bits;
    bool const has_threads = segments_of(*variant) <= team_size * std::int64_t{INT_MAX};
    if (launch.lanes.passes(vectors_of(launch)) > 1 || !has_threads) return {};
    return launch;
  }

 private:
  static Launch launch_of(SpmmVariant const& variant, std::int64_t columns,
                          LaunchForm form = LaunchForm::usual) {
    Launch launch;
    launch.form = form;
    launch.variant = &variant;
    launch.columns = columns;
    return launch;
  }

  std::int64_t scalar_bytes() const { return static_cast<std::int64_t>(blocks_.scalar.bytes); }
  std::int64_t vector_length() const { return tuning::device_vector_bytes / scalar_bytes(); }
  std::int64_t row_bytes(std::int64_t columns) const { return columns * scalar_bytes(); }
  std::int64_t whole_vectors(std::int64_t columns) const {
    return ceil_div(columns, vector_length()) * vector_length();
  }

  bool fits_vectors(SpmmVariant const& variant) const {
    return device_.is_host || (blocks_.x.vectors && (variant.strided_y || blocks_.y.vectors));
  }
  bool serves(SpmmVariant const& variant) const {
    if (variant.requires_aligned_x) return fits_vectors(variant);
    return device_.is_host || blocks_.x.contiguous || !variant.needs_contiguous_x();
  }

  /// Whether the variant chosen runs this product.
  bool is_taken() const {
    auto const& chosen = *choice_.variant;
    return is_offered(chosen, blocks_.scalar, device_) &&
           (choice_.asked || chosen.takes == nullptr || chosen.takes(A_, blocks_, device_));
  }
  /// The variant that runs: the one chosen or its fallback, or a variant that replaces it.
  SpmmVariant const& variant_that_runs() const {
    auto const& chosen = *choice_.variant;
    if (is_taken() && serves(chosen)) return at_width(chosen);
    auto const& other = fallback_of(A_, choice_);
    return at_width(fits_vectors(other) ? other : unvectorized(other));
  }
  /// The variant, or the one of the menu that replaces it at this width.
  SpmmVariant const& at_width(SpmmVariant const& variant) const {
    if (choice_.asked) return variant;
    for (auto const* const other : spmm_variants())
      if (other->replaces != nullptr && other->replaces(variant, A_, blocks_, device_))
        return *other;
    return variant;
  }

  /// Devices: blocks whose rows are not contiguous, where an alternative is faster than strided
  /// reads. True: the decision is complete.
  bool column_major_decided(Decision& decision) {
    auto const& chosen = *choice_.variant;
    bool const by_windows = chosen.lists_windows() && is_offered(chosen, blocks_.scalar, device_);
    if (blocks_.x.contiguous && (by_windows || blocks_.y.contiguous)) return false;
    if (blocks_.columns == 1 || blocks_.must_run) return false;
    bool const may_go_by_columns = blocks_.x.column_major && A_.values_in_order();
    DeviceModel const model(A_.rows, whole_vectors(blocks_.columns), blocks_.scalar, device_);
    double const row_major = time_of_choice(model.columns());
    double const strided = row_major + model.strided();
    double const copies =
        row_major + model.copy(A_.rows.columns) + (chosen.strided_y ? 0 : model.copy(A_.rows.rows));
    if (may_go_by_columns && model.by_columns() <= std::min(copies, strided)) {
      decision.launches = {launch_by_columns()};
      return true;
    }
    if (strided <= copies) return false;
    decide_copies(decision);
    decide_launches(decision, false);
    return true;
  }

  /// Predicted time of the chosen kernel in microseconds, for row-major blocks of that many
  /// columns. Kernels of other libraries are modelled as `rows`.
  double time_of_choice(std::int64_t columns) const {
    auto const cost = choice_.variant->cost != nullptr ? choice_.variant->cost : RowsChoice::cost;
    CostFacts const facts{A_.rows,         A_.groups,      A_.windows, {},  columns,
                          choice_.segment, blocks_.scalar, device_,    true};
    return cost(facts)->microseconds;
  }

  Launch launch_by_columns() const {
    Launch launch = launch_of(spmm_variant(SpmmKernelId::single_columns), blocks_.columns,
                              LaunchForm::lane_a_row);
    int const bytes = column_bytes(blocks_.columns, blocks_.scalar.bytes);
    launch.narrow = reads_narrow(bytes);
    std::size_t const entry =
        blocks_.scalar.bytes + (launch.narrow ? sizeof(std::int16_t) : A_.ordinal_bytes);
    if (device_.lanes_exchange && blocks_.x_columns_near &&
        stages_columns(A_.rows, blocks_.columns, blocks_.scalar.bytes, entry))
      launch.form = LaunchForm::staged_columns;
    return launch;
  }

  /// Pads X and Y to whole vectors in row-major scratch where they are not. Kernels that write any
  /// Y need no copy of it.
  void decide_copies(Decision& decision) {
    std::int64_t const columns = whole_vectors(blocks_.columns);
    bool const padded = columns != blocks_.columns;
    if (padded || !blocks_.x.aligned) copy_x(decision, BlockCopy::whole_vectors);
    blocks_.x.vectors = true;
    auto const& chosen = *choice_.variant;
    bool const offered = is_offered(chosen, blocks_.scalar, device_);
    auto const& variant = offered ? chosen : fallback_of(A_, choice_);
    decision.y_by_copy = !variant.strided_y && (padded || !blocks_.y.aligned);
    if (!decision.y_by_copy) return;
    blocks_.y = {};
    blocks_.columns = columns;
  }

  void copy_x(Decision& decision, BlockCopy copy) {
    decision.x = copy;
    blocks_.x = {};
  }

  /// Whether a product gains by a row-major copy of X: on hosts, because there a lane's columns are
  /// a register, which strided loads fill one element at a time.
  bool should_copy_on_host() const {
    return device_.is_host && !blocks_.x.contiguous && blocks_.columns >= host_packed_columns &&
           A_.rows.mean() * static_cast<double>(blocks_.columns) >= host_packed_work;
  }

  void decide_launches(Decision& decision, bool must_run) const {
    auto const& variant = variant_that_runs();
    if (must_run && &variant != choice_.variant) return;
    bool const vectorized =
        variant.vectorized && fits_vectors(variant) && blocks_.columns != variant.most_columns;
    LaunchForm const form = form_of(variant, vectorized);
    decision.fills_empty_rows = variant.skips_empty_rows() && form != LaunchForm::all_rows;
    for (std::int64_t first = 0; first < blocks_.columns;) {
      std::int64_t const rest = blocks_.columns - first;
      Launch launch = launch_of(variant, panel(variant, rest, vectorized), form);
      launch.vectorized = vectorized;
      decide_lanes(launch);
      decision.launches.push_back(launch);
      first += launch.columns;
    }
  }

  /// Columns of the next launch, of those that are left.
  std::int64_t panel(SpmmVariant const& variant, std::int64_t columns, bool vectorized) const {
    if (variant.most_columns > 0)
      return vectorized ? columns : std::min(columns, variant.most_columns);
    if (device_.is_host || A_.lanes.any()) return columns;
    return columns_of_panel(variant, A_.rows, A_.half_bandwidth, columns, blocks_.scalar.bytes,
                            vectorized, device_);
  }

  LaunchForm form_of(SpmmVariant const& variant, bool vectorized) const {
    return variant.form == nullptr ? LaunchForm::usual
                                   : variant.form(A_, blocks_, device_, vectorized);
  }

  /// Whether whole rows are read with 16-bit column indices by a launch that computes `bytes` of a
  /// row of Y.
  bool reads_narrow(std::int64_t bytes) const { return A_.has_distances && bytes <= narrow_bytes; }

  std::int64_t x_columns(Launch const& launch) const {
    // the last launch includes the padding of X, so that there are never more vectors than in X
    return launch.vectorized ? whole_vectors(launch.columns) : launch.columns;
  }
  std::int64_t vectors_of(Launch const& launch) const {
    return launch.vectorized ? x_columns(launch) / vector_length() : launch.columns;
  }
  std::int64_t segments_of(SpmmVariant const& variant) const {
    if (variant.lists_groups()) return A_.groups.groups;
    return variant.lists_segments() ? A_.segments : A_.rows.rows;
  }
  SegmentStatistics statistics_of(SpmmVariant const& variant) const {
    if (variant.lists_groups()) return statistics_of_groups(A_.rows, A_.groups);
    return statistics_of_segments(A_.rows, variant, segments_of(variant),
                                  variant.lists_segments() ? choice_.segment : A_.rows.longest);
  }

  /// One team thread computes all columns of a row, or of a segment of one.
  static bool has_team_threads(SpmmVariant const& variant) {
    return variant.by_rows && !variant.items && !variant.team_of_one && variant.most_columns == 0;
  }

  void decide_lanes(Launch& launch) const {
    if (device_.is_host) return;
    auto const& variant = *launch.variant;
    std::int64_t const vectors = vectors_of(launch);
    if (variant.lists_groups())
      launch.lanes.grid = choose_lanes(device_, vectors, statistics_of(variant), 1, A_.lanes).grid;
    if (variant.lists_tiles() && variant.lanes != nullptr && launch.vectorized)
      launch.lanes = variant.lanes(statistics_of(variant), vectors);
    if (!variant.by_rows || launch.form == LaunchForm::all_rows) return;
    bool const plain = !A_.is_permuted;
    launch.narrow = plain && !(blocks_.steps && launch.vectorized) && !variant.lists_segments() &&
                    reads_narrow(row_bytes(x_columns(launch)));
    if (variant.items) return;
    // kernels with several vectors (or single columns) a lane exist for plain entries only, those
    // with 16-bit column indices for up to two vectors a lane and without concurrent passes
    bool const complex = blocks_.scalar.is_complex;
    int const most_vectors = !launch.vectorized || !plain ? 1
                             : blocks_.steps              ? (complex ? 1 : 2)
                             : launch.narrow              ? 2
                                                          : 3;
    bool const spreads = plain && !blocks_.steps && !launch.narrow;
    auto const segments = statistics_of(variant);
    if (variant.lanes != nullptr && !A_.lanes.any()) {
      launch.lanes = variant.lanes(segments, vectors);
      return;
    }
    launch.lanes = choose_lanes(
        device_, vectors, segments, most_vectors, A_.lanes,
        spreads && launch.vectorized && !variant.lists_segments() && !variant.team_of_one);
    bool const several =
        plain && !complex && !launch.vectorized && blocks_.x.contiguous && blocks_.y.contiguous;
    if (several)
      launch.lanes =
          columns_of_lane(launch.lanes, vectors, blocks_.steps ? 2 : columns_of_lane_at_most,
                          segments, A_.lanes, device_);
  }

  /// Whether the kernel that runs has a form with a fused step, and the passes over blocks that
  /// this saves are worth it. Windows in single columns have one for few of them.
  bool takes_step() const {
    auto const& variant = variant_that_runs();
    bool const host = device_.is_host;
    if (!(device_.lanes_exchange || host) || !A_.values_in_order() || !blocks_.x_rows_near)
      return false;
    if (variant.skips_empty_rows() || (blocks_.must_run && &variant != choice_.variant))
      return false;
    double const saved = 3 * static_cast<double>(row_bytes(blocks_.columns));
    double const read = A_.rows.mean() * static_cast<double>(blocks_.scalar.bytes + sizeof(int));
    if (step_share * saved < read) return false;
    bool const vectorized = variant.vectorized && fits_vectors(variant);
    if (host)
      return has_team_threads(variant) && !variant.lists_segments() &&
             (vectorized || blocks_.columns == 1);
    if (variant.lists_windows()) return vectorized || blocks_.columns <= tuning::window_rows;
    return variant.lists_groups() || has_team_threads(variant);
  }

  // fused dot products

  /// Whether the variant has a kernel with fused dots: those whose team threads load directly.
  static bool sums_products(SpmmVariant const& variant) {
    return variant.lists_groups() || has_team_threads(variant);
  }
  /// Whether windows or staged tiles gain more than a pass for the sums costs.
  bool gains_a_pass() const {
    return !choice_.variant->lists_windows() || WindowsChoice::gain_a_pass(A_.rows, A_.windows);
  }
  /// Enough lanes for all vectors of a row in one pass, if a warp has them. One vector a lane for
  /// complex scalars, where two would spill registers.
  Lanes lanes_of_dots(Launch const& launch) const {
    bool const two = !blocks_.scalar.is_complex && !launch.variant->lists_groups();
    std::int64_t const vectors = vectors_of(launch);
    auto const segments = statistics_of(*launch.variant);
    Lanes lanes =
        choose_lanes(device_, vectors, segments, two && launch.vectorized ? 2 : 1, A_.lanes);
    if (two && !launch.vectorized && blocks_.x.contiguous && blocks_.y.contiguous)
      lanes =
          columns_of_lane(lanes, vectors, columns_of_lane_with_sums, segments, A_.lanes, device_);
    if (lanes.passes(vectors) <= 1) return lanes;
    lanes.grid.column_bits = bits_to_hold(ceil_div(vectors, std::int64_t{lanes.vectors_per_lane}),
                                          tuning::device_lane_bits);
    lanes.grid.entry_bits =
        std::min(lanes.grid.entry_bits, tuning::device_lane_bits - lanes.grid.column_bits);
    return lanes;
  }

  PatternFacts const& A_;
  SpmmChoice const& choice_;
  BlockFacts blocks_;
  DeviceFacts const& device_;
};

}  // namespace

bool keeps_distances(RowStatistics const& rows, SpmmVariant const& variant,
                     DeviceFacts const& device) {
  std::int64_t const bytes = rows.nonzeros * std::int64_t{sizeof(double) + sizeof(int)};
  return !device.is_host && variant.by_rows && !variant.lists_segments() &&
         narrow_share * bytes >= device.cache;
}

Decision decide(PatternFacts const& A, SpmmChoice const& choice, BlockFacts const& blocks,
                DeviceFacts const& device) {
  return Decider(A, choice, blocks, device).product();
}

}  // namespace blockspan::products
