// A sink that keeps what is published on the topics that it has an audience for.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/serving/feed_log.h"

namespace phsic::test {

class FakeSink : public FeedSink {
 public:
  explicit FakeSink(std::set<std::string> wanted) : topics(std::move(wanted)) {}

  [[nodiscard]] bool has_audience(const std::string& topic) const override {
    return topics.contains(topic);
  }
  void publish(const std::string& topic, std::string message) override {
    published.emplace_back(topic, nlohmann::json::parse(message));
  }

  // The numbers of all messages on a topic.
  [[nodiscard]] std::vector<std::uint64_t> numbers(const std::string& topic) const {
    std::vector<std::uint64_t> found;
    for (const auto& [name, message] : published) {
      if (name == topic) found.push_back(message["seq"]);
    }
    return found;
  }

  std::set<std::string> topics;
  std::vector<std::pair<std::string, nlohmann::json>> published;
};

}  // namespace phsic::test
