// Small real models for the tests, made on the spot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace phsic::tests {

// A folder of its own, gone in the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  TestFolder(TestFolder&&) = delete;
  TestFolder& operator=(TestFolder&&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string read_file(const std::string& path);
[[nodiscard]] std::string gzip(const std::string& bytes);

// Some vectors of words, the truth that files of them are held against.
struct WordVectors {
  std::vector<std::string> words;
  std::vector<std::vector<float>> vectors;

  [[nodiscard]] std::string as_text(bool with_header) const;
  [[nodiscard]] std::string as_binary(bool with_line_ends) const;
};
// word0, word1, ... with random vectors.
[[nodiscard]] WordVectors random_vectors(std::size_t count, std::size_t dim);

// A few thousand words of sentences made of a few dozen.
[[nodiscard]] std::string training_text();

struct FastTextOptions {
  bool is_supervised = false;
  bool is_quantised = false;
  int buckets = 300;
  int longest_gram = 5;
};
// Trains a model of 8 dimensions with libfasttext and saves it.
void make_fasttext_model(const std::string& path, const FastTextOptions& options = {});

// Trains a SentencePiece model.
void make_pieces_model(const std::string& path);

}  // namespace phsic::tests
