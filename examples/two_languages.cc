// Makes a stream of sentence pairs in two small made-up languages, for those who have none at hand.
//
// A sentence names a few things in the first language, its translation names them in the second, in
// another order, with some left out. Now and then the wrong translation is attached. Each line is
//
//   17-mismatched \t a sentence \t what is said to be its translation
//
// The id tells the truth, for who wants to check; the texts alone do not.
//
//   two_languages | phsic send --id 1 --x 2 --y 3 --rate 2000
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace {

using phsic::Random;

// A thing's name in one of the languages: the same syllables every time.
std::string word(std::uint64_t thing, std::uint64_t language) {
  constexpr std::string_view kOnsets[] = {"bdgklmnr", "fhpstvwz"};
  constexpr std::string_view kVowels[] = {"aeio", "auyo"};
  Random random(language, thing);
  std::string result;
  for (int i = 0; i < 3; ++i) {
    result += kOnsets[language][random.below(8)];
    result += kVowels[language][random.below(4)];
  }
  return result;
}

struct Pair {
  std::string x;
  std::string y;
  bool matched;
};

// Sentences about a handful of things that often come together, as in real text.
class TwoLanguages {
 public:
  TwoLanguages(double mismatched, std::uint64_t seed) : mismatched_(mismatched), random_(seed) {}

  Pair next() {
    const std::vector<std::uint64_t> things = sentence();
    const bool matched = random_.uniform() >= mismatched_;
    return {spoken(things, 0), spoken(matched ? things : sentence(), 1), matched};
  }

 private:
  std::vector<std::uint64_t> sentence() {
    const std::uint64_t topic = random_.below(40);
    std::vector<std::uint64_t> things;
    for (std::uint64_t n = 4 + random_.below(5); n > 0; --n) {
      const bool usual = random_.uniform() < 0.7;
      things.push_back(usual ? 10 * topic + random_.below(10) : random_.below(400));
    }
    return things;
  }

  std::string spoken(std::vector<std::uint64_t> things, std::uint64_t language) {
    for (std::size_t i = things.size(); i > 1; --i) {
      std::swap(things[i - 1], things[random_.below(i)]);
    }
    std::string text;
    for (const std::uint64_t thing : things) {
      if (random_.uniform() < 0.1) continue;
      if (!text.empty()) text += ' ';
      text += word(thing, language);
    }
    return text;
  }

  double mismatched_;
  Random random_;
};

struct Arguments {
  std::uint64_t pairs = 0;
  double mismatched = 0.15;
  std::uint64_t seed = 2018;
};

void print_pairs(const Arguments& arguments) {
  TwoLanguages languages(arguments.mismatched, arguments.seed);
  for (std::uint64_t i = 1; arguments.pairs == 0 || i <= arguments.pairs; ++i) {
    const Pair pair = languages.next();
    fmt::print("{}-{}\t{}\t{}\n", i, pair.matched ? "matched" : "mismatched", pair.x, pair.y);
  }
  if (std::fflush(stdout) != 0) throw phsic::Error("standard output cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Prints sentence pairs in two made-up languages as TSV: id, x, y.",
                 "two_languages");
    Arguments arguments;
    app.add_option("--pairs", arguments.pairs, "how many; 0: without end (default)")
        ->type_name("N");
    app.add_option("--mismatched", arguments.mismatched,
                   "share of pairs with a wrong translation (default: 0.15)")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
    app.add_option("--seed", arguments.seed, "another one gives other sentences (default: 2018)")
        ->type_name("N");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& problem) {
      return app.exit(problem) == 0 ? 0 : 2;
    }
    print_pairs(arguments);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "two_languages: {}\n", problem.what());
    return 1;
  }
  return 0;
}
