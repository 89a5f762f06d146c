#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/atomic_file.hpp>
#include <blockspan/support/error.hpp>

#include "common/files/output_file.hpp"
#include <sys/stat.h>
#include <unistd.h>

namespace blockspan::apps {

namespace fs = std::filesystem;

namespace {

/// Where a name leads.
struct Place {
  bool exists = false, regular = false;
  dev_t device = 0, folder_device = 0;
  ino_t inode = 0, folder_inode = 0;
  std::string entry;  ///< in the folder; empty: no such folder, or a descriptor

  void take(struct stat const& found) {
    exists = true;
    regular = S_ISREG(found.st_mode);
    device = found.st_dev;
    inode = found.st_ino;
  }

  bool is_same_file(Place const& other) const {
    bool const same = exists && other.exists && device == other.device && inode == other.inode;
    bool const same_entry = !entry.empty() && entry == other.entry &&
                            folder_device == other.folder_device &&
                            folder_inode == other.folder_inode;
    return same || same_entry;
  }
};

Place place_of(int descriptor) {
  Place place;
  struct stat found {};
  if (::fstat(descriptor, &found) == 0) place.take(found);
  return place;
}

Place place_of(std::string const& path) {
  Place place;
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) place.take(found);
  fs::path const target = blockspan::support::link_target(path);
  fs::path const folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (::stat(folder.c_str(), &found) != 0) return place;
  place.folder_device = found.st_dev;
  place.folder_inode = found.st_ino;
  place.entry = target.filename().string();
  return place;
}

struct Located {
  NamedFile file;
  Place place;
  bool is_stream = false;  ///< /dev/stdout, say: written after what is there
};

/// Devices and pipes are left out: nothing is lost there.
std::vector<Located> regular_outputs(std::vector<NamedFile> const& outputs) {
  std::vector<Located> found;
  for (auto const& file : outputs) {
    if (file.path.empty()) continue;
    auto const place = place_of(file.path);
    if (!place.exists || place.regular)
      found.push_back({file, place, descriptor_named(file.path) >= 0});
  }
  return found;
}

std::vector<Located> located_inputs(std::vector<NamedFile> const& inputs) {
  std::vector<Located> found;
  for (auto const& file : inputs)
    if (!file.path.empty() && !is_generator_spec(file.path))
      found.push_back({file, file.path == "-" ? place_of(STDIN_FILENO) : place_of(file.path)});
  return found;
}

}  // namespace

void require_separate(std::vector<NamedFile> const& outputs, std::vector<NamedFile> const& inputs) {
  auto const written = regular_outputs(outputs), read = located_inputs(inputs);
  for (auto const& output : written) {
    auto const& [option, path] = output.file;
    for (auto const& input : read)
      require((option == "--checkpoint" && input.file.option == "--resume") ||
                  !output.place.is_same_file(input.place),
              option, path, " would overwrite the input ", input.file.path);
    for (auto const* other = &output + 1; other != written.data() + written.size(); ++other)
      require((output.is_stream && other->is_stream) || !output.place.is_same_file(other->place),
              other->file.option, other->file.path, " is also the file of ", option);
  }
  for (int const descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    auto const stream = place_of(descriptor);
    std::string const name =
        descriptor == STDOUT_FILENO ? "the standard output" : "the standard error";
    if (!stream.regular) continue;
    for (auto const* list : {&written, &read})
      for (auto const& each : *list)
        require(each.is_stream || !each.place.is_same_file(stream), each.file.option,
                each.file.path, " is also the file of ", name);
  }
  for (std::size_t i = 0; i < read.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      bool const both_input = read[i].file.path == "-" && read[j].file.path == "-";
      bool const one_pipe = read[i].place.exists && !read[i].place.regular &&
                            read[i].place.is_same_file(read[j].place);
      require(!both_input && !one_pipe, read[i].file.option, read[i].file.path, " is also ",
              read[j].file.option, ", and can be read only once");
    }
}

void require_readable(std::vector<NamedFile> const& inputs) {
  for (auto const& [option, path] : inputs) {
    if (path.empty() || path == "-" || is_generator_spec(path)) continue;
    if (::access(path.c_str(), R_OK) == 0) continue;
    std::string const reason = std::strerror(errno);
    fail(path, "expected a readable ", option == "--hierarchy" ? "folder" : "file", ", found '",
         reason, "'");
  }
}

}  // namespace blockspan::apps
