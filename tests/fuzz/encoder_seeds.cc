#include "tests/fuzz/encoder_seeds.h"

#include <zlib.h>

#include <cstdint>

#include "plugins/word_table_writer.h"
#include "tests/fuzz/memory_file.h"

namespace phsic::fuzz {
namespace {

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_ints(std::string& bytes, std::initializer_list<std::int32_t> values) {
  for (const auto value : values) put(bytes, value);
}

void put_values(std::string& bytes, int count) {
  for (int i = 0; i < count; ++i) put(bytes, static_cast<float>(i) / 8);
}

std::string binary_words(const char* end) {
  std::string bytes = "3 2\n";
  for (const char* word : {"the", "a", "\xc3\xa9"}) {
    bytes.append(word).append(" ");
    put_values(bytes, 2);
    bytes += end;
  }
  return bytes;
}

std::string compressed(const std::string& bytes) {
  const MemoryFile file;
  auto* stream = gzdopen(dup(file.descriptor()), "wb");
  gzwrite(stream, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(stream);
  return file.read();
}

std::string word_table() {
  const MemoryFile file;
  plugins::WordTableWriter writer(file.descriptor(), 2);
  const float values[] = {1, 2};
  for (const char* word : {"the", "a", "\xc3\xa9"}) writer.add(word, values);
  writer.finish({});
  return file.read();
}

constexpr int kDimension = 2;

void put_quantiser(std::string& bytes, std::int32_t dimension) {
  put_ints(bytes, {dimension, dimension, 1, 1});
  put_values(bytes, dimension * 256);
}

void put_matrix(std::string& bytes, std::int64_t rows, bool is_quantised) {
  if (is_quantised) put(bytes, std::uint8_t{1});  // with norms
  put(bytes, rows);
  put(bytes, std::int64_t{kDimension});
  if (!is_quantised) return put_values(bytes, static_cast<int>(rows) * kDimension);
  put(bytes, static_cast<std::int32_t>(rows * kDimension));
  bytes.append(static_cast<std::size_t>(rows * kDimension), '\3');
  put_quantiser(bytes, kDimension);
  bytes.append(static_cast<std::size_t>(rows), '\4');
  put_quantiser(bytes, 1);
}

// A model of two words and two labels, as fastText saves it.
std::string fasttext_model(bool is_quantised, bool is_pruned, std::int32_t loss) {
  constexpr std::int32_t kBuckets = 3;
  std::string bytes;
  put_ints(bytes, {793712314, 12, kDimension, 5, 5, 1, 5, 1, loss, 3, kBuckets, 2, 4, 100});
  put(bytes, 1e-4);
  put_ints(bytes, {4, 2, 2});
  put(bytes, std::int64_t{20});
  put(bytes, is_pruned ? std::int64_t{1} : std::int64_t{-1});
  for (const char* word : {"the", "a", "__label__x", "__label__y"}) {
    bytes.append(word).push_back('\0');
    put(bytes, std::int64_t{5});
    put(bytes, static_cast<std::uint8_t>(word[0] == '_' ? 1 : 0));
  }
  if (is_pruned) put_ints(bytes, {2, 0});
  put(bytes, static_cast<std::uint8_t>(is_quantised));
  put_matrix(bytes, is_pruned ? 3 : 2 + kBuckets, is_quantised);
  put(bytes, std::uint8_t{0});
  put_matrix(bytes, 2, false);
  return bytes;
}

// For each reader of cost_fuzz, texts that something has been slow for, or that a rule looks for.
void write_cost_seeds(
    const std::function<void(const std::string& target, const std::string& bytes)>& write) {
  constexpr char kReaders = 13;
  for (char reader = 0; reader < kReaders; ++reader) {
    for (const char* text :
         {"a\u0301\u0316", "a\u0301\u034f\u0316", "\u4e2d\u6587", "\u1950\u1980", "\u0e01\u0e40",
          "a ", "1,", "\xff", "([", "a | ", "http://b.c/", "&#1;", "aB ", "+ ", "\u00c3\u00a9"}) {
      write("cost_fuzz", std::string{reader, *text == 'a' ? '\1' : '\0'} + text);
    }
  }
}

}  // namespace

void write_encoder_seeds(
    const std::function<void(const std::string& target, const std::string& bytes)>& write) {
  for (const std::string text :
       {"2 3\nthe 0.1 -2e-3 5\na 1 2 3\n", "the 0.1 2\n. . . 3 4\n7 8 9\n", "1 1\na 1\n\n"}) {
    write("word_vectors_fuzz", text);
    write("word_vectors_fuzz", compressed(text));
  }
  write("word_vectors_fuzz", binary_words(""));
  write("word_vectors_fuzz", binary_words("\n"));
  write("word_table_fuzz", word_table());
  for (const std::int32_t loss : {1, 3}) {
    write("fasttext_fuzz", fasttext_model(false, false, loss));
    write("fasttext_fuzz", fasttext_model(true, false, loss));
    write("fasttext_fuzz", fasttext_model(true, true, loss));
  }
  for (const char* text : {"\x02"
                           "0.1 0.2 -3e-1",
                           "\x01[1, 2]", "\x02 1;2 ,3\n", "\x03nan"}) {
    write("number_list_fuzz", text);
  }
  write_cost_seeds(write);
}

}  // namespace phsic::fuzz
