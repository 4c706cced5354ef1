#include "tests/plugins/model_files.h"

#include <fasttext/fasttext.h>
#include <sentencepiece_trainer.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>

namespace phsic::tests {

TestFolder::TestFolder() {
  auto name = (std::filesystem::temp_directory_path() / "phsic-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::write(const std::string& name, const std::string& bytes) const {
  std::string path = *this / name;
  // Some file systems write a file to the disk at once that took the place of its old content.
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string gzip(const std::string& bytes) {
  const TestFolder folder;
  const auto path = folder / "bytes.gz";
  auto* file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return read_file(path);
}

std::string WordVectors::as_text(bool with_header) const {
  std::ostringstream out;
  out.precision(9);
  if (with_header) out << words.size() << ' ' << vectors.front().size() << '\n';
  for (std::size_t i = 0; i < words.size(); ++i) {
    out << words[i];
    for (const float value : vectors[i]) out << ' ' << value;
    out << '\n';
  }
  return out.str();
}

std::string WordVectors::as_binary(bool with_line_ends) const {
  std::string out = std::to_string(words.size()) + ' ' + std::to_string(vectors.front().size());
  out += '\n';
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += words[i] + ' ';
    out.append(reinterpret_cast<const char*>(vectors[i].data()), vectors[i].size() * sizeof(float));
    if (with_line_ends) out += '\n';
  }
  return out;
}

WordVectors random_vectors(std::size_t count, std::size_t dim) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  WordVectors made;
  for (std::size_t i = 0; i < count; ++i) {
    made.words.push_back("word" + std::to_string(i));
    auto& vector = made.vectors.emplace_back(dim);
    for (float& value : vector) value = normal(random);
  }
  return made;
}

std::string training_text() {
  const std::vector<std::string> words = {
      "the",   "quick", "brown", "fox",   "jumps", "over",  "lazy",  "dog",   "while", "seven",
      "small", "birds", "sing",  "about", "warm",  "rain",  "and",   "old",   "Paris", "London",
      "river", "boats", "carry", "heavy", "stone", "under", "green", "hills", "until", "evening"};
  std::mt19937 random(3);
  std::string text;
  for (int line = 0; line < 400; ++line) {
    for (int k = 0; k < 8; ++k) text += words[random() % words.size()] + (k < 7 ? " " : "\n");
  }
  return text;
}

void make_fasttext_model(const std::string& path, const FastTextOptions& options) {
  const TestFolder folder;
  auto text = training_text();
  fasttext::Args args;
  if (options.is_supervised) {
    std::istringstream lines(text);
    text.clear();
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      text += (++number % 2 == 0 ? "__label__even " : "__label__odd ") + line + "\n";
    }
    args.model = fasttext::model_name::sup;
    args.loss = fasttext::loss_name::softmax;
    args.minCount = 1;
  } else {
    args.model = fasttext::model_name::sg;
    args.minCount = 1;
  }
  args.input = folder.write("text", text);
  args.dim = 8;
  args.bucket = options.buckets;
  args.minn = options.longest_gram > 0 ? 3 : 0;
  args.maxn = options.longest_gram;
  args.epoch = 2;
  args.thread = 1;
  args.verbose = 0;
  fasttext::FastText model;
  model.train(args);
  if (options.is_quantised) {
    fasttext::Args quantising = args;
    quantising.qnorm = true;
    quantising.dsub = 2;
    model.quantize(quantising);
  }
  model.saveModel(path);
}

void make_pieces_model(const std::string& path) {
  const TestFolder folder;
  const auto text = folder.write("text", training_text());
  const auto prefix = folder / "pieces";
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + text + " --model_prefix=" + prefix +
      " --vocab_size=80 --hard_vocab_limit=false --minloglevel=2 --num_threads=1");
  if (!status.ok()) throw std::runtime_error(status.ToString());
  std::filesystem::copy_file(prefix + ".model", path);
}

}  // namespace phsic::tests
