// Why a pair scores as it does, and what was asked about it. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch.h"

namespace phsic {

struct ExplainQuestion {
  std::size_t top = 5;  // how many of each list are told
  // The model in use has learned the pair: its own share is taken out of everything that is told
  // (core/own_share.h), as far as it is known.
  bool was_learned = false;
};

// What single words of a text add to the score of its pair (word_parts.h).
struct SideWords {
  struct Part {
    double contribution = 0;
    std::size_t place = 0;  // among the words of the text, from 0
    std::string word;       // a long one is cut
  };
  std::vector<Part> raise;  // the strongest first
  std::vector<Part> lower;
  std::size_t count = 0;       // words of the text, or of the beginning of a long one
  std::size_t unexamined = 0;  // of them, because there are too many, or nothing can read the rest
};

struct PairWords {
  SideWords x;
  SideWords y;
};

// What the expert says for the damage that a pair looks most like, and why (expert_opinion.h).
struct ExpertOpinion {
  struct Component {
    double contribution = 0;  // to the log odds
    double deviations = 0;    // how far the pair is from the mean
    std::string name;
    std::string about;  // in words
  };
  std::string damage;                 // what it looks for, as reasons name it
  std::string about;                  // the same in words
  double log_odds = 0;                // of a good pair
  std::vector<Component> components;  // those that lower them, the strongest first
};

struct PairExplanation {
  struct Part {
    double contribution = 0;
    std::uint64_t number = 0;  // of the learned pair, from 0
    std::string x;
    std::string y;
    std::string view;  // which has seen it so, where there are several
  };
  // What one of several views says.
  struct View {
    std::string name;
    double weight = 0;
    double score = 0;         // by itself
    double standardised = 0;  // in deviations from random pairings
    std::string problem;      // why it cannot say anything, if so
  };
  double score = 0;
  double own_share = 0;  // what was taken out of it that the pair itself has taught
  double rest = 0;       // what no learned pair has a share in
  std::vector<Part> raise;
  std::vector<Part> lower;
  std::vector<View> views;             // empty where there is one
  std::optional<PairWords> words;      // none: nobody has looked
  std::optional<Judgement> judgement;  // of the model's judge, if it has one
  std::optional<ExpertOpinion> expert;
  std::shared_ptr<const PublishedModel> published;
  std::string problem;  // why the pair cannot be scored, if so
};

}  // namespace phsic
