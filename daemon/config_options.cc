#include "daemon/config_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "daemon/net/endpoint.h"
#include "engine/option_value.h"

namespace phsic {
namespace {

constexpr std::uint64_t kMaxQueue = 1U << 24U;
constexpr std::uint64_t kMaxQueueBytes = std::uint64_t{1} << 40U;
constexpr double kMaxDrain = 3600;
constexpr double kMaxCommitDelay = 10;
constexpr std::uint32_t kMaxIdWindow = 1U << 24U;
constexpr double kMaxLearnShare = 0.9;
constexpr double kLeastRefresh = 0.01;
constexpr double kMaxRefresh = 365.0 * 86400;

template <auto Member, class Target>
bool same(const Target& a, const Target& b) {
  return a.*Member == b.*Member;
}

template <auto Member, class Target>
void add_endpoint(Target& target, std::string_view text) {
  static_cast<void>(Endpoint::to_bind(text));
  (target.*Member).emplace_back(text);
}

template <auto Member, class Target>
void set_flag(Target& target, std::string_view text) {
  target.*Member = flag_value(text);
}

template <auto Member, std::uint64_t most, class Target>
void set_whole(Target& target, std::string_view text) {
  using Whole = std::decay_t<decltype(target.*Member)>;
  target.*Member = whole_value<Whole>(text, 1, static_cast<Whole>(most));
}

std::string one_of(std::string_view text, std::initializer_list<std::string_view> known) {
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    refuse_value(text, fmt::format("one of {}", fmt::join(known, ", ")));
  }
  return std::string(text);
}

void add_encoder_folder(Config& config, std::string_view text) {
  if (text.empty() || text.find('\0') != std::string_view::npos) refuse_value(text, "a folder");
  config.encoder_path.emplace_back(text);
}

void set_drain(Config& config, std::string_view text) {
  constexpr std::string_view kExpected = "a time from 0s to 1h, such as 10s";
  const auto seconds = seconds_value(text, kExpected);
  if (seconds < 0 || seconds > kMaxDrain) refuse_value(text, kExpected);
  config.drain_seconds = seconds;
}

void set_refresh_after(StreamSettings& stream, std::string_view text) {
  constexpr std::string_view kExpected = "a time from 0.01s to 365d, such as 5s or 2m, or never";
  const auto seconds = text == "never" ? 0 : seconds_value(text, kExpected);
  if (text != "never" && (seconds < kLeastRefresh || seconds > kMaxRefresh)) {
    refuse_value(text, kExpected);
  }
  stream.refresh_seconds = seconds;
}

void set_time_slack(StreamSettings& stream, std::string_view text) {
  constexpr std::string_view kExpected = "a time from 0s to 365d, such as 60s, or any";
  const auto seconds =
      text == "any" ? std::numeric_limits<double>::infinity() : seconds_value(text, kExpected);
  if (text != "any" && (seconds < 0 || seconds > kMaxRefresh)) refuse_value(text, kExpected);
  stream.time_slack = seconds;
}

void set_state(Config& config, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) refuse_value(text, "a file, or nothing");
  config.state = text;
}

void set_commit_delay(Config& config, std::string_view text) {
  constexpr std::string_view kExpected = "a time from 0s to 10s, such as 0.005s";
  const auto seconds = seconds_value(text, kExpected);
  if (seconds < 0 || seconds > kMaxCommitDelay) refuse_value(text, kExpected);
  config.commit_delay = seconds;
}

void set_snapshot_after(Config& config, std::string_view text) {
  constexpr std::string_view kExpected = "a time from 1s to 365d, such as 5m, or never";
  const auto seconds = text == "never" ? 0 : seconds_value(text, kExpected);
  if (text != "never" && (seconds < 1 || seconds > kMaxRefresh)) refuse_value(text, kExpected);
  config.snapshot_seconds = seconds;
}

void set_promise(StreamSettings& stream, std::string_view text) {
  const auto promise = one_of(text, {"auto", "durable", "accepted"});
  stream.promise = promise == "auto" ? std::optional<bool>() : promise == "durable";
}

void set_id_window(StreamSettings& stream, std::string_view text) {
  stream.id_window = whole_value<std::uint32_t>(text, 0, kMaxIdWindow);
}

void set_learn_share(StreamSettings& stream, std::string_view text) {
  constexpr std::string_view kExpected = "a number from 0 to 0.9";
  const auto share = number_value(text, kExpected);
  if (share < 0 || share > kMaxLearnShare) refuse_value(text, kExpected);
  stream.learn_share = share;
}

using DaemonForm = DaemonOption::Form;
using ServingForm = ServingOption::Form;

constexpr DaemonOption kDaemonOptions[] = {
    {"service", DaemonForm::kEndpoints, false, "ENDPOINT, ...", "tcp://127.0.0.1:7470",
     "where requests are answered; at least one", add_endpoint<&Config::service>, &Config::service,
     same<&Config::service>},
    {"ingest", DaemonForm::kEndpoints, false, "ENDPOINT, ...", "tcp://127.0.0.1:7471",
     "where pairs are taken to score and learn; [] is nowhere", add_endpoint<&Config::ingest>,
     &Config::ingest, same<&Config::ingest>},
    {"feed", DaemonForm::kEndpoints, false, "ENDPOINT, ...", "tcp://127.0.0.1:7472",
     "where scores, flags and events are published; [] is nowhere", add_endpoint<&Config::feed>,
     &Config::feed, same<&Config::feed>},
    {"subscribe", DaemonForm::kMapping, false, "list", "[]",
     "other publishers to take pairs from: mappings of `endpoint`, `stream` and, if not all of "
     "it is wanted, `topic`, a prefix",
     nullptr, nullptr, same<&Config::subscribe>},
    {"exposed", DaemonForm::kText, false, "true|false", "false",
     "whether service, ingest and feed may be reached from other machines; anyone who reaches "
     "a port can read and teach",
     set_flag<&Config::exposed>, nullptr, same<&Config::exposed>},
    {"log-level", DaemonForm::kText, true, "NAME", "info", "trace, debug, info, warning or error",
     [](Config& config, std::string_view text) {
       config.log_level = one_of(text, {"trace", "debug", "info", "warning", "error"});
     },
     nullptr, same<&Config::log_level>},
    {"log-format", DaemonForm::kText, false, "text|json", "text",
     "how a line of the log is written",
     [](Config& config, std::string_view text) {
       config.log_format = one_of(text, {"text", "json"});
     },
     nullptr, same<&Config::log_format>},
    {"encoder-path", DaemonForm::kTexts, false, "FOLDER, ...", "[]",
     "folders with further encoders, searched before the one that is installed", add_encoder_folder,
     &Config::encoder_path, same<&Config::encoder_path>},
    {"message-bytes", DaemonForm::kText, false, "SIZE", "4MiB",
     "of one frame, at most; who sends more is told so, and disconnected from twice as much on",
     [](Config& config, std::string_view text) {
       config.message_bytes = bytes_value(text, 1U << 10U, 1U << 30U);
     },
     nullptr, same<&Config::message_bytes>},
    {"request-pairs", DaemonForm::kText, false, "N", "65536", "of one request, at most",
     set_whole<&Config::request_pairs, 1U << 20U>, nullptr, same<&Config::request_pairs>},
    {"feed-queue", DaemonForm::kText, false, "N", "10000",
     "messages kept for a subscriber that is slow; it loses what is beyond",
     set_whole<&Config::feed_queue, 10'000'000>, nullptr, same<&Config::feed_queue>},
    {"feed-bytes", DaemonForm::kText, false, "SIZE", "64MiB",
     "the same in bytes, of all subscribers together: beyond half of it those who do not read are "
     "disconnected, beyond all of it nobody gets anything",
     [](Config& config, std::string_view text) {
       config.feed_bytes = bytes_value(text, 1U << 10U, kMaxQueueBytes);
     },
     nullptr, same<&Config::feed_bytes>},
    {"drain", DaemonForm::kText, false, "TIME", "10s",
     "how long to finish what was accepted before the daemon ends", set_drain, nullptr,
     same<&Config::drain_seconds>},
    {"state", DaemonForm::kText, false, "FILE", "",
     "where what is learned is kept, see [state.md](state.md); \"\": it is not. Without this key: "
     "`phsicd.db` in `$STATE_DIRECTORY`, if that is set, as it is under systemd",
     set_state, nullptr, same<&Config::state>},
    {"journal", DaemonForm::kText, false, "trim|keep", "trim",
     "whether pairs that are in all snapshots are removed from the journal, or kept to learn them "
     "again with another configuration",
     [](Config& config, std::string_view text) {
       config.keeps_journal = one_of(text, {"trim", "keep"}) == "keep";
     },
     nullptr, same<&Config::keeps_journal>},
    {"commit-delay", DaemonForm::kText, false, "TIME", "0s",
     "how long a commit waits for more to write at once; durable answers wait with it",
     set_commit_delay, nullptr, same<&Config::commit_delay>},
    {"snapshot-after", DaemonForm::kText, false, "TIME|never", "5m",
     "a new snapshot after so long, if anything was learned", set_snapshot_after, nullptr,
     same<&Config::snapshot_seconds>},
    {"snapshot-bytes", DaemonForm::kText, false, "SIZE", "64MiB",
     "... and when the journal of a stream has grown by so much",
     [](Config& config, std::string_view text) {
       config.snapshot_bytes = bytes_value(text, 1U << 10U, kMaxQueueBytes);
     },
     nullptr, same<&Config::snapshot_bytes>},
    {"snapshots", DaemonForm::kText, false, "N", "3", "kept of each stream, 1 to 100",
     set_whole<&Config::snapshots, 100>, nullptr, same<&Config::snapshots>},
    {"defaults", DaemonForm::kMapping, false, "mapping", "{}",
     "options of all streams; a stream's own count more", nullptr, nullptr, nullptr},
    {"streams", DaemonForm::kMapping, false, "mapping", "",
     "a name and options for each stream; at least one", nullptr, nullptr, nullptr},
};

constexpr ServingOption kServingOptions[] = {
    {"refresh-after", ServingForm::kText, true, "TIME|never", "5s",
     "a new model after so long, too, if anything was learned, and 160 pairs in all",
     set_refresh_after, nullptr, same<&StreamSettings::refresh_seconds>},
    {"time-slack", ServingForm::kText, true, "TIME|any", "60s",
     "how far the `time` of a pair may be ahead of its arrival; beyond, the time of arrival "
     "counts, "
     "lest one wrong clock ends a half-life or window; any: as far as it likes",
     set_time_slack, nullptr, same<&StreamSettings::time_slack>},
    {"feed-texts", ServingForm::kText, true, "true|false", "false",
     "whether the feed has the texts of a pair", set_flag<&StreamSettings::feed_texts>, nullptr,
     same<&StreamSettings::feed_texts>},
    {"workers", ServingForm::kText, false, "N", "1", "threads that encode and score, 1 to 64",
     set_whole<&StreamSettings::workers, 64>, nullptr, same<&StreamSettings::workers>},
    {"batch-pairs", ServingForm::kText, false, "N", "256",
     "scored at once, at most, 1 to 4096; of long ones only as many as 1 MiB has room for",
     set_whole<&StreamSettings::batch_pairs, 4096>, nullptr, same<&StreamSettings::batch_pairs>},
    {"queue-pairs", ServingForm::kText, true, "N", "16384",
     "accepted and not scored yet, at most; beyond, requests are refused and ingest waits; a "
     "larger "
     "one is taken when there is no other",
     set_whole<&StreamSettings::queue_pairs, kMaxQueue>, nullptr,
     same<&StreamSettings::queue_pairs>},
    {"queue-bytes", ServingForm::kText, true, "SIZE", "64MiB", "the same in bytes",
     [](StreamSettings& stream, std::string_view text) {
       stream.queue_bytes = bytes_value(text, 1U << 10U, kMaxQueueBytes);
     },
     nullptr, same<&StreamSettings::queue_bytes>},
    {"learn-queue-pairs", ServingForm::kText, true, "N", "65536",
     "accepted and not learned yet, at most",
     set_whole<&StreamSettings::learn_queue_pairs, kMaxQueue>, nullptr,
     same<&StreamSettings::learn_queue_pairs>},
    {"learn-queue-bytes", ServingForm::kText, true, "SIZE", "64MiB",
     "the same in bytes, texts and vectors; requests count until they are answered",
     [](StreamSettings& stream, std::string_view text) {
       stream.learn_queue_bytes = bytes_value(text, 1U << 10U, kMaxQueueBytes);
     },
     nullptr, same<&StreamSettings::learn_queue_bytes>},
    {"learn-share", ServingForm::kText, true, "NUMBER", "0.2",
     "what pairs that are only taught get of the workers while clients wait for scores, 0 to 0.9; "
     "0: nothing until nobody waits",
     set_learn_share, nullptr, same<&StreamSettings::learn_share>},
    {"ingest", ServingForm::kEndpoints, false, "ENDPOINT, ...", "[]",
     "where pairs are taken for this stream alone, so that it does not hold up others",
     add_endpoint<&StreamSettings::ingest>, &StreamSettings::ingest, same<&StreamSettings::ingest>},
    {"promise", ServingForm::kText, true, "NAME", "auto",
     "when a request to learn is answered that does not say: durable (on the disk), accepted (in "
     "memory), or auto: durable where there is a state",
     set_promise, nullptr, same<&StreamSettings::promise>},
    {"id-window", ServingForm::kText, false, "N", "65536",
     "ids of pairs that are remembered, so that a pair that comes again is learned once; 0: none",
     set_id_window, nullptr, same<&StreamSettings::id_window>},
};

}  // namespace

std::span<const DaemonOption> daemon_options() { return kDaemonOptions; }

std::span<const ServingOption> serving_options() { return kServingOptions; }

std::vector<std::string_view> stream_option_names() {
  std::vector<std::string_view> names;
  for (const auto& option : stream_options()) names.push_back(option.name);
  for (const auto& option : decide_options()) {
    if (option.is_served) names.push_back(option.name);
  }
  for (const auto& option : kServingOptions) names.push_back(option.name);
  return names;
}

bool stream_option_reloads(std::string_view name) {
  if (name == "refresh") return true;
  if (const auto* const known = find_decide_option(name)) return known->reloads;
  return std::any_of(std::begin(kServingOptions), std::end(kServingOptions),
                     [&](const auto& option) { return option.name == name && option.reloads; });
}

}  // namespace phsic
