// phsic eval: how well scores tell good pairs from bad, and right replies from wrong.
#pragma once

#include <cstddef>
#include <string>

#include "cli/arguments.h"

namespace phsic {

// Damaged pairs among good ones, by a label that the scores do not see.
struct DetectArguments {
  std::string input = "-";
  std::string label;
  std::string good = "ok";
  std::string by = "score";
  bool json = false;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};
void run_eval_detect(const DetectArguments& arguments);

// The first candidate of each line against the others.
struct EvalRankArguments {
  std::string input = "-";
  std::string learn;
  bool json = false;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};
void run_eval_rank(const EvalRankArguments& arguments);

// Each pair's y against those of earlier pairs, the stream being learned in order.
struct EvalNextArguments {
  std::string input = "-";
  bool json = false;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};
void run_eval_next(const EvalNextArguments& arguments);

}  // namespace phsic
