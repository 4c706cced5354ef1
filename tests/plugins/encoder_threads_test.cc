// Encoders in many threads, which the thread sanitizer watches.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/plugins/specimens.h"

namespace phsic::tests {

TEST_CASE("Many threads at once get what one gets") {
  for_each_specimen([](const Specimen& specimen) {
    const auto encoder = specimen.open();
    if (encoder.facts().concurrent == 0) return;
    const auto expected = encoder.encode(specimen.texts);
    std::array<bool, 8> is_right{};
    std::vector<std::thread> threads;
    for (bool& right : is_right) {
      threads.emplace_back([&] {
        right = true;
        for (int k = 0; k < 30; ++k) right = right && encoder.encode(specimen.texts) == expected;
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(std::all_of(is_right.begin(), is_right.end(), [](bool right) { return right; }));
  });
}

TEST_CASE("Encoders that cut alike give each thread its rows, while others come and go") {
  const std::vector<std::string> texts = {"the river", "die Steine am Ufer", "", "東京の朝"};
  std::array<bool, 6> is_right{};
  std::vector<std::thread> threads;
  const LoadedEncoder one(shipped("hashing"), R"({"dim":64})");
  const auto expected = one.encode(texts);
  for (bool& right : is_right) {
    threads.emplace_back([&] {
      right = true;
      for (int k = 0; k < 30; ++k) {
        const LoadedEncoder other(shipped("hashing"), R"({"dim":32,"seed":2})");
        static_cast<void>(other.encode(texts));
        right = right && one.encode(texts) == expected;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(std::all_of(is_right.begin(), is_right.end(), [](bool right) { return right; }));
}

TEST_CASE("Threads may open one model at once") {
  // The sanitizer does not see the lock under which dlclose unloads a library.
  const EncoderLibrary keep(shipped("wordvec"));
  const TestFolder folder;
  const auto vectors = random_vectors(8, 3);
  const nlohmann::json options = {{"file", folder.write("words", vectors.as_text(true))},
                                  {"weight", "mean"},
                                  {"cache", folder / "cache"}};
  std::array<bool, 6> is_right{};
  std::vector<std::thread> threads;
  for (bool& right : is_right) {
    threads.emplace_back([&] {
      const LoadedEncoder encoder(shipped("wordvec"), options.dump());
      right = encoder.encode(vectors.words[3]) == vectors.vectors[3];
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(std::all_of(is_right.begin(), is_right.end(), [](bool right) { return right; }));
}

}  // namespace phsic::tests
