#include "common/problem/preconditioner_choice.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <blockspan/support/error.hpp>

#include "common/machine/components.hpp"

namespace blockspan::apps {

namespace {

constexpr char const* own_option = "--preconditioner";

/// Throws Error where the component behind a preconditioner was not linked.
void require_linked(PreconditionerChoice::Kind kind, std::string const& name) {
  using Kind = PreconditionerChoice::Kind;
  std::string const asked = own_option + (" " + name);
  require(has_direct || kind != Kind::direct, asked,
          left_out("direct", "apt-get install libmumps-seq-dev, then "));
  require(has_kokkos_kernels || kind != Kind::gauss_seidel, asked, left_out("kokkos_kernels"));
}

}  // namespace

std::vector<NamedFile> MultigridInputs::files() const {
  std::vector<NamedFile> found{
      {"--near-null", near_null}, {"--coordinates", coordinates}, {"--hierarchy", hierarchy}};
  std::error_code ignored;
  if (!hierarchy.empty())
    for (auto const& entry : std::filesystem::directory_iterator(hierarchy, ignored))
      found.push_back({"--hierarchy", entry.path().string()});
  return found;
}

PreconditionerChoice parse_preconditioner(std::string const& text, MultigridInputs const& inputs) {
  using Kind = PreconditionerKind;
  PreconditionerChoice choice{parse_preconditioner_words(own_option, text), text, inputs};
  require_linked(choice.kind, choice.name);
  require(choice.kind == Kind::multigrid || choice.kind == Kind::automatic || !inputs.given(),
          own_option,
          "--near-null, --coordinates, --block-size, --adaptive, --hierarchy and --levels go with "
          "multigrid or automatic only, not with ",
          text);
  return choice;
}

}  // namespace blockspan::apps
