#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blockspan::apps {

/// A file that an app will write at the end of its work, claimed at the beginning: the place is
/// checked before anything is computed, and a reader sees the old file or the whole new one.
/// Symbolic links are followed. What cannot be written in the end costs that file alone.
class OutputFile {
 public:
  /// `option` is named in errors, e.g. "--report". Throws Error where nothing could be written: no
  /// such folder, a folder, not permitted. Devices, pipes and open descriptors (/dev/stdout) are
  /// good for texts, not for matrix files. Leaves nothing behind.
  OutputFile(std::string const& option, std::filesystem::path path, bool device_is_good);

  std::string name() const { return path_.string(); }

  /// Writes `text` as the whole content, or appends it to an open descriptor. Returns what went
  /// wrong, if anything did.
  std::optional<std::string> write(std::string const& text) const;
  /// The same where save(name) writes the file; it may throw Error.
  std::optional<std::string> write_by(std::function<void(std::string const&)> const& save) const;
  /// As write(), but throws Error where something went wrong.
  void write_or_fail(std::string const& text) const;

 private:
  std::string option_;
  std::filesystem::path path_;
  int descriptor_ = -1;  ///< that the name stands for
  bool is_device_ = false;
};

/// The output file of an option; null where `path` is empty: none is asked for.
std::unique_ptr<OutputFile> claim_output(std::string const& option, std::string const& path,
                                         bool device_is_good);

/// The open descriptor that a name stands for (/dev/stdout, /dev/fd/3); -1: none.
int descriptor_named(std::string const& path);

/// A file by the option that names it.
struct NamedFile {
  std::string option, path;
};

/// Throws Error where an output would overwrite an input or another output, or either is the file
/// that the standard output or the standard error goes to, by whatever names; and where two inputs
/// are one pipe. Entries without a path and generator specs are passed over, and --checkpoint may
/// renew --resume.
void require_separate(std::vector<NamedFile> const& outputs, std::vector<NamedFile> const& inputs);

/// Throws Error where an input is not there or may not be read, also one that a run might do
/// without. Generator specs and the standard input are passed over.
void require_readable(std::vector<NamedFile> const& inputs);

}  // namespace blockspan::apps
