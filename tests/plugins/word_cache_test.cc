#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {
namespace {

namespace fs = std::filesystem;

// A small model with a cache in a folder of its own.
class CachedModel {
 public:
  CachedModel() : vectors_(random_vectors(8, 3)) {
    file_ = folder_.write("words.vec", vectors_.as_text(true));
    fs::create_directory(cache_folder());
  }

  [[nodiscard]] fs::path cache_folder() const { return folder_.path() / "cache"; }
  [[nodiscard]] const TestFolder& folder() const { return folder_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const WordVectors& vectors() const { return vectors_; }

  [[nodiscard]] LoadedEncoder open(const std::string& cache = "", int limit = 0) const {
    const nlohmann::json options = {{"file", file_},
                                    {"limit", limit},
                                    {"weight", "mean"},
                                    {"cache", cache.empty() ? cache_folder().string() : cache}};
    return {shipped("wordvec"), options.dump()};
  }

  [[nodiscard]] std::vector<fs::path> caches() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(cache_folder())) found.push_back(entry.path());
    return found;
  }

  void require_right(const LoadedEncoder& encoder) const {
    for (std::size_t i = 0; i < vectors_.words.size(); ++i) {
      REQUIRE(encoder.encode(vectors_.words[i]) == vectors_.vectors[i]);
    }
    REQUIRE(encoder.encode("none") == Row(3));
  }

 private:
  TestFolder folder_;
  WordVectors vectors_;
  std::string file_;
};

}  // namespace

TEST_CASE("The second start takes the cache and gives the same vectors") {
  const CachedModel model;
  std::string identity;
  {
    const auto first = model.open();
    model.require_right(first);
    identity = first.identity();
  }
  REQUIRE(model.caches().size() == 1);
  const auto inode = [&] {
    struct stat facts {};
    stat(model.caches()[0].c_str(), &facts);
    return facts.st_ino;
  };
  const auto before = inode();
  const auto second = model.open();
  model.require_right(second);
  CHECK(second.identity() == identity);
  CHECK(inode() == before);  // not written again
}

TEST_CASE("The second start does not read the model") {
  const CachedModel model;
  const auto identity = model.open().identity();
  const auto time = fs::last_write_time(model.file());
  // Other content with the same size and time.
  const auto size = fs::file_size(model.file());
  model.folder().write("words.vec", std::string(size, '#'));
  fs::last_write_time(model.file(), time);
  const auto second = model.open();
  model.require_right(second);
  CHECK(second.identity() == identity);
}

TEST_CASE("A cache with any byte changed is made anew") {
  const EncoderLibrary keep(shipped("wordvec"));  // loaded, for speed
  const CachedModel model;
  { const auto first = model.open(); }
  const auto cache = model.caches().at(0);
  const auto good = read_file(cache);
  for (std::size_t at = 0; at < good.size(); ++at) {
    INFO("byte " << at);
    auto bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    // As a new file: the old one may be mapped.
    fs::remove(cache);
    model.folder().write(fs::path("cache") / cache.filename(), bad);
    model.require_right(model.open());
    REQUIRE(read_file(cache) == good);
  }
  REQUIRE(model.caches().size() == 1);
}

TEST_CASE("A cache of any other size is made anew") {
  const CachedModel model;
  { const auto first = model.open(); }
  const auto cache = model.caches().at(0);
  const auto good = read_file(cache);
  for (std::size_t size = 0; size < good.size(); size += 7) {
    fs::remove(cache);
    model.folder().write(fs::path("cache") / cache.filename(), good.substr(0, size));
    model.require_right(model.open());
    REQUIRE(read_file(cache) == good);
  }
  model.folder().write(fs::path("cache") / cache.filename(), good + "more");
  model.require_right(model.open());
  REQUIRE(read_file(cache) == good);
}

TEST_CASE("A model that changed is read again") {
  const CachedModel model;
  const auto identity = model.open().identity();
  SECTION("in size") {
    model.folder().write("words.vec", "1 2\nnew 1 2\n");
    const auto second = model.open();
    CHECK(second.encode("new") == Row{1, 2});
    CHECK(second.identity() != identity);
  }
  SECTION("in content only") {
    auto text = read_file(model.file());
    text[text.rfind('.') - 1] = text[text.rfind('.') - 1] == '1' ? '2' : '1';
    model.folder().write("words.vec", text);
    CHECK(model.open().identity() != identity);
  }
  SECTION("in time only") {
    fs::last_write_time(model.file(), fs::file_time_type::clock::now() - std::chrono::hours(5));
    CHECK(model.open().identity() == identity);
  }
}

TEST_CASE("A change right after the first start is noticed") {
  // In the manner of an editor that saves twice within one tick of the clock.
  const TestFolder folder;
  const nlohmann::json options = {
      {"file", folder / "words"}, {"cache", folder / "cache"}, {"weight", "mean"}};
  for (int trial = 0; trial < 20; ++trial) {
    const auto value = static_cast<float>(trial % 10);
    folder.write("words", "1 1\na " + std::to_string(trial % 10) + "\n");
    REQUIRE(LoadedEncoder(shipped("wordvec"), options.dump()).encode("a") == Row{value});
  }
}

TEST_CASE("Each limit has a cache of its own") {
  const CachedModel model;
  const auto whole = model.open();
  const auto part = model.open("", 3);
  CHECK(model.caches().size() == 2);
  CHECK(part.encode("word4") == Row(3));
  model.require_right(model.open());
  CHECK(model.open("", 3).encode("word2") == model.vectors().vectors[2]);
}

TEST_CASE("Without a folder to write to the words stay in memory") {
  const CachedModel model;
  // Even root cannot make a folder below a file.
  model.require_right(model.open(model.file() + "/below"));
  // Root may write to a folder that is read-only; others may not. Right vectors come either way.
  fs::permissions(model.cache_folder(), fs::perms::owner_read | fs::perms::owner_exec);
  model.require_right(model.open());
  fs::permissions(model.cache_folder(), fs::perms::owner_all);
}

TEST_CASE("Vectors are read without a cache if a folder is in its place") {
  const CachedModel model;
  { const auto first = model.open(); }
  const auto cache = model.caches().at(0);
  fs::remove(cache);
  fs::create_directory(cache);
  model.require_right(model.open());
  CHECK(model.caches().size() == 1);  // and nothing half-made is left
}

TEST_CASE("By default the cache lies beside the model") {
  const CachedModel model;
  model.require_right(model.open("auto"));
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(model.folder().path())) {
    const auto name = entry.path().filename().string();
    if (name.find("words.vec.") == 0 && entry.path().extension() == ".words") ++count;
  }
  CHECK(count == 1);
}

TEST_CASE("A missing cache folder is made") {
  const CachedModel model;
  const auto folder = model.cache_folder() / "deep" / "inside";
  model.require_right(model.open(folder));
  CHECK(!fs::is_empty(folder));
}

TEST_CASE("A refused model leaves nothing behind") {
  const CachedModel model;
  model.folder().write("words.vec", "2 2\na 1 2\nb 3\n");
  CHECK_THROWS(model.open());
  CHECK(model.caches().empty());
}

TEST_CASE("Processes may start at once") {
  const CachedModel model;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const auto child = fork();
    if (child == 0) {
      int status = 0;
      try {
        const auto encoder = model.open();
        status = encoder.encode(model.vectors().words[7]) == model.vectors().vectors[7] ? 0 : 1;
      } catch (...) {
        status = 2;
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(model.caches().size() == 1);
}

}  // namespace phsic::tests
