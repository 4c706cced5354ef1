#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/config_options.h"
#include "tests/daemon/configs.h"

namespace phsic::tests {
namespace {

// What a configuration comes to, however it was written. `rank`, once written, is phsic's as well.
// What is said of decisions is a plan.
Config meaning(Config config) {
  for (auto& stream : config.streams) {
    stream.options.clear();
    if (stream.plan() == plan_of(DecideSpec(), stream.spec)) stream.decide = DecideSpec();
    stream.spec.estimator.phsic_at_rank = false;
  }
  return config;
}

}  // namespace

TEST_CASE("Every key of the daemon, set to its documented default, changes nothing") {
  const auto plain = parse(kOneStream);
  CHECK(plain.streams.size() == 1);
  auto expected = Config();
  expected.streams = plain.streams;
  CHECK(plain == expected);
  for (const auto& option : daemon_options()) {
    if (option.fallback.empty()) continue;
    INFO(option.name);
    CHECK(parse(fmt::format("{}: {}\n{}", option.name, option.fallback, kOneStream)) == plain);
  }
}

TEST_CASE("Every option of a stream, set to its documented default, changes nothing") {
  auto expected = StreamSettings();
  expected.name = "a";
  CHECK(parse(kOneStream).streams.front() == expected);
  const auto check = [&](std::string_view name, std::string_view fallback) {
    INFO(name);
    const auto set = parse(fmt::format("streams: {{a: {{{}: {}}}}}", name, fallback));
    CHECK(meaning(set) == parse(kOneStream));
    const auto value = fallback == "[]" ? "" : std::string(fallback);
    CHECK(written_value(set.streams.front(), name) == value);
  };
  for (const auto& option : stream_options()) {
    if (!option.fallback.starts_with("as ")) check(option.name, option.fallback);
  }
  for (const auto& option : serving_options()) check(option.name, option.fallback);
  for (const auto& option : decide_options()) {
    // What there is one of is one by default.
    if (option.is_served && !option.fallback.empty()) check(option.name, option.fallback);
  }
}

TEST_CASE("Without a file config/phsicd.yaml holds, which has every key with its default") {
  const auto text = read_source("config/phsicd.yaml");
  CHECK(default_config_text() == text);
  std::string uncommented;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto hash = line.find('#');
    const bool is_key =
        hash != std::string::npos && hash + 1 < line.size() && line[hash + 1] != ' ';
    uncommented += (is_key ? line.substr(0, hash) + line.substr(hash + 1) : line) + "\n";
  }
  auto expected = parse("streams: {default: }");
  CHECK(meaning(parse(text)) == expected);
  CHECK(meaning(parse(uncommented)) == expected);
  for (const auto& option : daemon_options()) {
    INFO(option.name);
    CHECK(uncommented.find(fmt::format("\n{}:", option.name)) != std::string::npos);
  }
  for (const auto name : stream_option_names()) {
    INFO(name);
    // Of these there is one, or, without a word of decide-by, the one that goes with the judge.
    if (name == "keep" || name == "fdr" || name == "percentile" || name == "score" ||
        name == "quality" || name == "decide-by") {
      continue;
    }
    CHECK(uncommented.find(fmt::format("\n    {}: ", name)) != std::string::npos);
  }
}

TEST_CASE("The configurations that come along are accepted") {
  const auto chat = read_config(source_path("config/chat.yaml"), {});
  CHECK(chat.streams.front().name == "chat");
  CHECK(chat.streams.front().feed_texts);
  CHECK(chat.streams.front().spec.forgetting.span == 50000);
  // The time that a model takes is cubic in the dimension: at 4096 it was 8 s and more.
  for (const auto& encoder :
       {chat.streams.front().spec.x_encoder, chat.streams.front().spec.y_encoder}) {
    CHECK(encoder == EncoderSpec::parse("hashing:dim=1024"));
  }
  const auto dialogue = read_config(source_path("config/dialogue.yaml"), {});
  CHECK(dialogue.streams.front().spec.views.size() == 2);
  CHECK(dialogue.streams.front().feed_texts);
  CHECK(dialogue.streams.front().decide.cut == chat.streams.front().decide.cut);
  const auto bitext = read_config(source_path("config/bitext.yaml"), {});
  CHECK(bitext.streams.size() == 2);
  CHECK(bitext.streams[1].queue_bytes == 512U << 20U);
  CHECK(bitext.streams[1].spec.forgetting.mode == Forgetting::Mode::kNever);
  CHECK(bitext.streams[1].ingest == std::vector<std::string>{"tcp://127.0.0.1:7482"});
  CHECK(bitext.drain_seconds == 60);
}

TEST_CASE("docs/configuration.md is the reference") {
  const auto reference = config_reference();
  if (read_source("docs/configuration.md") != reference) {
    const auto made = std::filesystem::current_path() / "configuration.md";
    std::ofstream(made) << reference;
    FAIL("docs/configuration.md is out of date, expected what is now in " << made);
  }
}

TEST_CASE("Every example of the reference is accepted") {
  const auto reference = config_reference();
  const std::string fence = "```yaml\n";
  int examples = 0;
  for (auto at = reference.find(fence); at != std::string::npos; at = reference.find(fence, at)) {
    at += fence.size();
    const auto example = reference.substr(at, reference.find("```\n", at) - at);
    INFO(example);
    CHECK(complaint(example) == "none");
    ++examples;
  }
  CHECK(examples == 2);
}

}  // namespace phsic::tests
