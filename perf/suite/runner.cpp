#include "suite/runner.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "blockspan-spmm/bandwidth.hpp"
#include "common/machine/dispatch.hpp"
#include "common/problem/problem.hpp"
#include "common/run/application.hpp"
#include "common/run/interrupt.hpp"
#include "peers/cusparse.hpp"
#include "solvers/measure.hpp"
#include "spmm/caches.hpp"
#include "spmm/measure.hpp"
#include "spmm/report.hpp"
#include "studies/studies.hpp"
#include "suite/clocks.hpp"
#include "suite/environment.hpp"
#include "suite/memory.hpp"
#include "suite/profile.hpp"
#include "suite/progress_bar.hpp"
#include "suite/results_file.hpp"

namespace blockspan::perf {

namespace {

/// Enough to see that everything works.
TimingRules quick_rules() {
  return {.rounds = 1,
          .warm_up_ms = 0,
          .budget_ms = 1,
          .longest_ms = 4,
          .least_batches = 2,
          .most_batches = 3,
          .fewest_batches = 1};
}

void require_backend(Exec const& exec, std::string const& wanted) {
  std::string const measured = apps::describe(exec).backend;
  require(wanted == "auto" || wanted == measured, "--backend " + wanted,
          "this build measures on its best backend, ", measured);
}

/// What the studies depend on, files and the library included.
Scope completed(Scope scope) {
  for (auto const* const variant : spmm_variants())
    if (variant->component == nullptr) scope.core.emplace_back(variant->id);
  scope.is_complex = [](std::string const& path) { return apps::inspect_source(path).complex; };
  return scope;
}

/// Leaves the cases of the matrices that were asked for. Throws Error for one that no study has.
void choose_cases(std::vector<std::string> const& matrices, std::vector<Study>& studies) {
  if (matrices.empty()) return;
  auto const of = [](std::string const& matrix) {
    return [&](Case const& one) { return one.name() == matrix; };
  };
  for (std::string const& matrix : matrices)
    require(std::any_of(studies.begin(), studies.end(),
                        [&](Study const& study) {
                          return std::any_of(study.cases.begin(), study.cases.end(), of(matrix));
                        }),
            "--matrix " + matrix, "no study of this run has such a case");
  for (Study& study : studies)
    std::erase_if(study.cases, [&](Case const& one) {
      return std::find(matrices.begin(), matrices.end(), one.name()) == matrices.end();
    });
}

std::vector<Study> make_studies(Command const& command) {
  Scope const scope = completed(command.scope);
  std::vector<Study> studies;
  if (command.specs.empty() || !command.studies.empty())
    for (StudyEntry const& entry : choose_studies(command.studies))
      studies.push_back(entry.make(scope));
  if (!command.specs.empty()) studies.push_back(given(command.specs));
  choose_cases(command.scope.matrices, studies);
  return studies;
}

/// One run of the program.
class Run {
 public:
  explicit Run(Command const& command) : command_(command), studies_(make_studies(command)) {
    require_backend(bench_.exec, command.backend);
    std::error_code error;
    std::filesystem::create_directories(command.out, error);
    require(!error, "--out " + command.out, "cannot be made (", error.message(), ")");
    int const batches = command.scope.quick ? 2 : 10;
    bench_.bytes_per_second = apps::measure_copy(bench_.exec, batches).bytes_per_second;
    bench_.gather_bytes_per_second = measure_gather(bench_.exec, batches);
    bench_.stopwatch = make_stopwatch(bench_.exec);
    bench_.quick = command.scope.quick;
    if (bench_.quick) bench_.rules = quick_rules();
    if (command.flush) bench_.rules.flush = make_flush(bench_.exec);
    bench_.fault = command.fault;
    bench_.peer_seconds =
        bench_.quick ? std::min(30.0, command.peer_seconds) : command.peer_seconds;
    for (Study const& study : studies_)
      files_.emplace_back(command.out + "/" + study.name + ".json", header(study), study.cases,
                          command.fresh);
  }

  int operator()() {
    apps::InterruptGuard const guard;
    ProgressBar bar(cases_to_run());
    for (std::size_t i = 0; i < studies_.size() && !ended(); ++i)
      run_study(studies_[i], files_[i], bar);
    int const left = cases_left();
    if (left > 0)
      bar.say(std::to_string(left) + " cases are left: the same command goes on with them");
    return left == 0 && all_right() ? apps::success : apps::incomplete;
  }

 private:
  Json header(Study const& study) const {
    Json json = begin_results(bench_.exec, study, command_.commit, command_.scope.quick);
    if (std::string const version = cusparse_version(); !version.empty())
      json["versions"]["cusparse"] = version;
    json["clock"] = stopwatch_method();
    json["flush"] = command_.flush;
    json["fault"] = command_.fault;
    json["copy_gbytes"] = 1e-9 * bench_.bytes_per_second;
    json["gather_gbytes"] = 1e-9 * bench_.gather_bytes_per_second;
    return json;
  }

  int cases_left() const {
    int cases = 0;
    for (ResultsFile const& file : files_) cases += file.left();
    return cases;
  }

  int cases_to_run() const {
    return command_.at_most < 0 ? cases_left() : std::min(cases_left(), command_.at_most);
  }

  /// Of this run and of those before.
  bool all_right() const {
    for (ResultsFile const& file : files_)
      for (Json const& entry : file.document()["cases"])
        if (!is_right(entry)) return false;
    return true;
  }

  bool ended() const {
    return apps::InterruptGuard::interrupted() ||
           (command_.at_most >= 0 && started_ >= command_.at_most);
  }

  void run_study(Study const& study, ResultsFile& file, ProgressBar& bar) {
    if (file.left() == 0) return;
    file.append("clocks", read_clocks());
    for (std::size_t i = 0; i < study.cases.size() && !ended(); ++i) {
      if (file.done(i)) continue;
      ++started_;
      bar.begin(study.name + " " + study.cases[i].name());
      file.begin(i);
      CaseResult const result = run_case(study.cases[i], file.document());
      // an interrupt reaches the programs that a case has started, too
      if (apps::InterruptGuard::interrupted() && study.cases[i].task != Task::product) {
        file.forget(i);
        break;
      }
      file.finish(i, to_json(result));
      bar.end(study.name + " " + in_words(study.cases[i], result));
    }
    file.append("clocks", read_clocks());
  }

  /// A case that fails is an entry of the results; the others go on.
  CaseResult run_case(Case const& one, Json const& header) {
    CaseResult result;
    // floors are of the speeds in the file, which may be of an earlier run
    bench_.bytes_per_second = 1e9 * header["copy_gbytes"].get<double>();
    bench_.gather_bytes_per_second = 1e9 * header["gather_gbytes"].get<double>();
    std::string source;
    try {
      source = source_of(one);
      require_room(one, source);
    } catch (Error const& error) {
      result.refused = error.what();
      return result;
    }
    try {
      result = measure_task(one, source);
    } catch (std::bad_alloc const&) {
      result.error = "out of memory";
    } catch (std::exception const& error) {
      result.error = error.what();
    }
    result.source = source == one.spec ? source : one.file;
    return result;
  }

  CaseResult measure_task(Case const& one, std::string const& source) {
    switch (one.task) {
      case Task::product:
        break;
      case Task::profile:
        return measure_profile(one, source, {command_.python, command_.scripts, command_.out});
      case Task::hierarchy:
        return measure_hierarchy(bench_, source);
      case Task::eigenpairs:
      case Task::linear_systems:
        return measure_solvers(bench_, source, one,
                               {command_.python, command_.scripts, command_.out});
    }
    return apps::with_scalar(one.scalar, [&](auto const& tag) {
      return measure<std::decay_t<decltype(tag)>>(bench_, source, one);
    });
  }

  static bool is_right(Json const& entry) {
    if (entry.contains("error")) return false;
    if (!entry.contains("kernels")) return true;
    for (Json const& kernel : entry["kernels"]) {
      bool const own = kernel["family"] == "blockspan";
      if (kernel.contains("unconverged") ? own : kernel.contains("right") && !kernel["right"])
        return false;
    }
    return true;
  }

  Command const& command_;
  std::vector<Study> studies_;
  Bench bench_;
  std::deque<ResultsFile> files_;
  int started_ = 0;
};

}  // namespace

int run_studies(Command const& command) {
  apps::KokkosSession const kokkos;
  return Run(command)();
}

void list_studies(Command const& command) {
  for (StudyEntry const& entry : choose_studies(command.studies)) {
    Study const study = entry.make(completed(command.scope));
    std::printf("%-20s %4zu cases  %s\n%20s %s\n", entry.name, study.cases.size(),
                study.title.c_str(), "", study.reproduces.c_str());
  }
}

}  // namespace blockspan::perf
