#include "plugins/word_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "plugins/file_reader.h"
#include "plugins/path_fault.h"
#include "plugins/word_table_writer.h"
#include "plugins/word_vectors_reader.h"
#include "text/file_hash.h"
#include "text/tokenizer.h"

namespace phsic::plugins {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

struct Model {
  std::string path;
  ModelStamp stamp;
  mode_t mode = 0;
};

Model look_at(const std::string& path, std::uint64_t limit) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    throw std::invalid_argument(path_fault(path, errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    throw std::invalid_argument(
        fmt::format("{}: found something that is no regular file, expected word vectors", path));
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  Model model{path, {}, facts.st_mode};
  model.stamp.size = static_cast<std::uint64_t>(facts.st_size);
  model.stamp.mtime_ns = facts.st_mtim.tv_sec * kNanoseconds + facts.st_mtim.tv_nsec;
  model.stamp.limit = limit;
  return model;
}

bool is_same(const ModelStamp& a, const ModelStamp& b) {
  return a.size == b.size && a.mtime_ns == b.mtime_ns && a.limit == b.limit;
}

// The kernel's clock for files ticks every few milliseconds: a file written a moment ago can
// change once more without a change of its time. Waits until it cannot.
void let_time_tick(const ModelStamp& stamp) {
  using std::chrono::system_clock;
  constexpr auto kTick = std::chrono::milliseconds(20);
  const system_clock::time_point changed{
      std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(stamp.mtime_ns))};
  const auto age = system_clock::now() - changed;
  if (age >= age.zero() && age < kTick) std::this_thread::sleep_for(kTick - age);
}

std::vector<fs::path> cache_folders(const std::string& model, const std::string& cache) {
  if (cache == "off") return {};
  if (cache != "auto") return {cache};
  std::vector<fs::path> folders = {fs::absolute(model).parent_path()};
  const char* xdg = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe)
  const char* home = std::getenv("HOME");           // NOLINT(concurrency-mt-unsafe)
  if (xdg != nullptr && fs::path(xdg).is_absolute()) {
    folders.push_back(fs::path(xdg) / "phsic");
  } else if (home != nullptr && fs::path(home).is_absolute()) {
    folders.push_back(fs::path(home) / ".cache" / "phsic");
  }
  folders.emplace_back("/var/cache/phsic");
  return folders;
}

// The path and the limit are in the name, so that models of one name do not take turns.
std::string cache_name(const Model& model) {
  std::error_code ignored;
  auto whole = fs::weakly_canonical(model.path, ignored).string();
  if (whole.empty()) whole = model.path;
  const auto key = fmt::format("{}\n{}", whole, model.stamp.limit);
  return fmt::format("{}.{:016x}.words", fs::path(model.path).filename().string(),
                     XXH3_64bits(key.data(), key.size()));
}

std::optional<WordTable> open_cache(const fs::path& path, const ModelStamp& stamp) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return std::nullopt;
  try {
    WordTable table(file.number());
    if (is_same(table.model(), stamp)) return table;
  } catch (const std::runtime_error&) {
    // Damaged, cut or of another version: as good as none.
  }
  return std::nullopt;
}

void write_table(const Model& model, int descriptor) {
  FileReader source(model.path);
  WordVectorsReader reader(source);
  WordTableWriter writer(descriptor, reader.dimension());
  std::vector<float> values(reader.dimension());
  std::string_view word;
  std::string normal;
  const auto limit = model.stamp.limit;
  for (std::uint64_t n = 0; (limit == 0 || n < limit) && reader.next(word, values.data()); ++n) {
    // In the same normal form as the words of texts; what is not UTF-8 becomes U+FFFD in both.
    text::normalize(word, text::Normalization::kNfc, normal);
    writer.add(normal, values.data());
  }
  if (!is_same(look_at(model.path, limit).stamp, model.stamp)) {
    throw std::invalid_argument(
        fmt::format("{}: found it changed while it was read, expected it at rest", model.path));
  }
  writer.finish(model.stamp);
}

// A file beside its final place. It is removed unless put_in_place() succeeds.
class NewFile {
 public:
  explicit NewFile(fs::path place)
      : place_(std::move(place)),
        temporary_(place_.string() + ".XXXXXX"),
        file_(mkostemp(temporary_.data(), O_CLOEXEC)) {}
  ~NewFile() {
    if (file_.is_open() && !is_in_place_) unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  NewFile(NewFile&&) = delete;
  NewFile& operator=(NewFile&&) = delete;

  [[nodiscard]] bool is_open() const { return file_.is_open(); }
  [[nodiscard]] int number() const { return file_.number(); }

  // Throws std::system_error when the file cannot be renamed.
  void put_in_place(mode_t mode) {
    if (fchmod(number(), mode & 0666U) != 0 || fsync(number()) != 0 ||
        std::rename(temporary_.c_str(), place_.c_str()) != 0) {
      throw std::system_error(errno, std::generic_category(), temporary_);
    }
    is_in_place_ = true;
  }

 private:
  fs::path place_;
  std::string temporary_;
  Descriptor file_;
  bool is_in_place_ = false;
};

std::optional<WordTable> make_cache(const Model& model, const fs::path& folder) {
  std::error_code ignored;
  // /var/cache/phsic is the system's to make, the others are the user's.
  if (folder != "/var/cache/phsic") fs::create_directories(folder, ignored);
  NewFile file(folder / cache_name(model));
  if (!file.is_open()) return std::nullopt;
  try {
    write_table(model, file.number());
    file.put_in_place(model.mode);
    return WordTable(file.number());
  } catch (const std::runtime_error&) {
    return std::nullopt;  // the disk is full, say; faults of the model are logic_errors
  }
}

WordTable make_in_memory(const Model& model) {
  const Descriptor memory(memfd_create("words", MFD_CLOEXEC));
  if (!memory.is_open()) {
    throw std::runtime_error(
        fmt::format("no memory for the words of {}: {}", model.path, std::strerror(errno)));
  }
  write_table(model, memory.number());
  return WordTable(memory.number());
}

}  // namespace

WordTable load_word_table(const std::string& path, std::uint64_t limit, const std::string& cache) {
  Model model = look_at(path, limit);
  const auto folders = cache_folders(path, cache);
  for (const auto& folder : folders) {
    if (auto table = open_cache(folder / cache_name(model), model.stamp)) {
      return std::move(*table);
    }
  }
  if (!folders.empty()) let_time_tick(model.stamp);
  const auto hash = text::file_hash(path);
  std::copy_n(hash.begin(), std::min(hash.size(), model.stamp.hash.size() - 1),
              model.stamp.hash.begin());
  for (const auto& folder : folders) {
    if (auto table = make_cache(model, folder)) return std::move(*table);
  }
  return make_in_memory(model);
}

}  // namespace phsic::plugins
