#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace blockspan::apps {

/// A file that an app will write at the end of its work, claimed at the beginning: the place is
/// checked before anything is computed, and a reader sees the old file or the whole new one.
class OutputFile {
 public:
  /// Creates a temporary file in the folder of `path`. `option` is named in errors, e.g.
  /// "--report". Throws Error where nothing could be written: no such folder, a folder, not
  /// permitted. Devices
  /// (/dev/stdout) are good for texts, not for matrix files.
  OutputFile(std::string const& option, std::filesystem::path path, bool device_is_good);
  /// Removes the temporary file unless commit() was called.
  ~OutputFile();
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  /// Where to write. Its name ends as `path` does; devices (/dev/stdout) are written directly.
  std::filesystem::path const& temporary() const { return temporary_; }
  std::filesystem::path const& path() const { return path_; }

  /// Writes `text` as the whole content, then commits.
  void write(std::string const& text);
  /// Renames temporary() to `path`.
  void commit();

 private:
  std::string option_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

/// The output file of an option; null where `path` is empty: none is asked for.
std::unique_ptr<OutputFile> claim_output(std::string const& option, std::string const& path,
                                         bool device_is_good);

}  // namespace blockspan::apps
