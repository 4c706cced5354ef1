#include "daemon/config.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/error.h"
#include "daemon/config_change.h"
#include "daemon/config_options.h"
#include "engine/yaml_tree.h"
#include "tests/daemon/configs.h"

namespace phsic::tests {

TEST_CASE("All that is wrong is told at once, in the order of the file") {
  const auto told = complaint(
      "servise: tcp://127.0.0.1:1\n"
      "ingest: [tcp://127.0.0.1:7471, http://x, [1]]\n"
      "feed: {a: b}\n"
      "log-level: loud\n"
      "message-bytes: 4MB\n"
      "drain: 10\n"
      "drain: 10s\n"
      "encoder: hashing\n"
      "defaults:\n"
      "  half-life: soon\n"
      "  workers: 65\n"
      "streams:\n"
      "  chat room:\n"
      "    rigde: 1\n"
      "    reservoir: 3\n"
      "  chat:\n"
      "    half-life: 7d\n"
      "    window: 7d\n"
      "    p: 1.5\n"
      "    encoder: {dim: 3}\n"
      "    kernel: cosinus\n"
      "  list: [1]\n");
  std::string names;
  for (const auto name : stream_option_names()) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  CHECK(told ==
        "c.yaml:1: servise: found an unknown key, expected a known one such as service\n"
        "c.yaml:2: ingest[1]: found \"http://x\", expected tcp://ADDRESS:PORT, ipc://PATH or "
        "inproc://NAME, such as tcp://127.0.0.1:7470\n"
        "c.yaml:2: ingest[2]: found a list, expected a text in the list\n"
        "c.yaml:3: feed: found a mapping, expected a text or a list of texts\n"
        "c.yaml:4: log-level: found \"loud\", expected one of trace, debug, info, warning, error\n"
        "c.yaml:5: message-bytes: found \"4MB\", expected a size from 1KiB to 1GiB, such as 65536 "
        "or 64KiB\n"
        "c.yaml:6: drain: found \"10\", expected a time from 0s to 1h, such as 10s\n"
        "c.yaml:7: drain: found again, expected once\n"
        "c.yaml:8: encoder: found an option of a stream, expected it in defaults or streams.NAME\n"
        "c.yaml:10: defaults.half-life: found \"soon\", expected a number of pairs such as 50000, "
        "a time such as 30s, 15m, 2h or 7d, or never\n"
        "c.yaml:11: defaults.workers: found \"65\", expected a whole number from 1 to 64\n"
        "c.yaml:13: streams.chat room: found the name \"chat room\", expected 1 to 64 of the "
        "letters a-z and A-Z, digits, - _ and ., not beginning with .\n"
        "c.yaml:14: streams.chat room.rigde: found an unknown key, expected a known one such as "
        "ridge\n"
        "c.yaml:15: streams.chat room.reservoir: found 3, expected 16 to 1048576\n"
        "c.yaml:18: streams.chat.window: found a half-life and a window, expected one of them\n"
        "c.yaml:19: streams.chat.p: found \"1.5\", expected a number above 0, up to 1\n"
        "c.yaml:20: streams.chat.encoder: found a mapping, expected a text, or a mapping with a "
        "name (of an encoder)\n"
        "c.yaml:21: streams.chat.kernel: kernel 'cosinus', at character 8: found 'cosinus', "
        "expected one of linear, cosine, gaussian, laplacian, polynomial, spectrum, sum, product\n"
        "c.yaml:22: streams.list: found a list, expected KEY: VALUE lines");
  CHECK(complaint("streams: {a: {colour: red}}") ==
        fmt::format("c.yaml:1: streams.a.colour: found an unknown key, expected one of {}", names));
}

TEST_CASE("A daemon without streams is refused") {
  const std::string expected = "expected a mapping with at least one stream";
  CHECK(complaint("") == "c.yaml:1: streams: found none, " + expected);
  CHECK(complaint("# nothing\nfeed: []\n") == "c.yaml:1: streams: found none, " + expected);
  CHECK(complaint("feed: []\nstreams: {}") ==
        "c.yaml:2: streams: found an empty mapping, " + expected);
  CHECK(complaint("streams:") == "c.yaml:1: streams: found nothing, " + expected);
  CHECK(complaint("streams: [a]") == "c.yaml:1: streams: found a list, " + expected);
  CHECK(complaint("- a") == "c.yaml:1: the file: found a list, expected KEY: VALUE lines");
  CHECK(complaint(with_stream("service: []\n")) ==
        "c.yaml:1: service: found none, expected at least one endpoint");
}

TEST_CASE("Names of streams are fit for topics and paths") {
  const std::vector<std::string> good = {"a", "de-en", "Room_7", "v1.2", "0", std::string(64, 'x')};
  for (const auto& name : good) {
    CHECK(complaint("streams: {" + name + ": }") == "none");
  }
  const std::vector<std::string> bad = {
      "''", ".", "..", ".a", "a/b", "a b", "\xc3\xa4", "\"a\\nb\"", std::string(65, 'x')};
  for (const auto& name : bad) {
    INFO(name);
    CHECK(complaint("streams: {" + name + ": }").find("found the name") != std::string::npos);
  }
  CHECK(complaint("streams:\n  a:\n  a:\n") == "c.yaml:3: streams.a: found again, expected once");
}

TEST_CASE("A stream's own options count more than defaults, one side's more than both's") {
  const auto config = parse(
      "defaults: {x-encoder: hashing:dim=64, half-life: 7d, workers: 3, p: 0.2}\n"
      "streams:\n"
      "  a:\n"
      "  b: {y-encoder: 'hashing:dim=8', encoder: {name: hashing, dim: 32}, window: 5000}\n"
      "  c: {workers: 2, window: never}\n");
  const auto& a = config.streams[0];
  CHECK(a.spec.x_encoder == EncoderSpec::parse("hashing:dim=64"));
  CHECK(a.spec.y_encoder == EncoderSpec());
  CHECK(a.workers == 3);
  const auto& b = config.streams[1];
  CHECK(b.spec.x_encoder == EncoderSpec::parse("hashing:dim=32"));
  CHECK(b.spec.y_encoder == EncoderSpec::parse("hashing:dim=8"));
  CHECK(b.spec.forgetting.mode == Forgetting::Mode::kWindowPairs);
  const std::vector<std::pair<std::string, std::string>> written = {{"encoder", "hashing:dim=32"},
                                                                    {"y-encoder", "hashing:dim=8"},
                                                                    {"window", "5000"},
                                                                    {"p", "0.2"},
                                                                    {"workers", "3"}};
  CHECK(b.options == written);
  const auto& c = config.streams[2];
  CHECK(c.spec.forgetting.mode == Forgetting::Mode::kHalfLifeSeconds);
  CHECK(c.workers == 2);
}

TEST_CASE("Numbers, sizes and times mean what they say") {
  const auto config = parse(
      "message-bytes: 64KiB\ndrain: 0s\n"
      "streams: {a: {queue-bytes: 1GiB, refresh-after: 2m, refresh: 500, queue-pairs: 7}, "
      "b: {queue-bytes: 4096, refresh-after: never, learn-queue-bytes: 8KiB, learn-share: 0.5}}");
  CHECK(config.message_bytes == 65536);
  CHECK(config.drain_seconds == 0);
  CHECK(config.streams[0].queue_bytes == 1U << 30U);
  CHECK(config.streams[0].refresh_seconds == 120);
  CHECK(config.streams[0].spec.refresh_pairs == 500);
  CHECK(config.streams[0].queue_pairs == 7);
  CHECK(config.streams[1].queue_bytes == 4096);
  CHECK(config.streams[1].refresh_seconds == 0);
  CHECK(config.streams[1].learn_queue_bytes == 8192);
  CHECK(config.streams[1].learn_share == 0.5);
  for (const char* wrong : {"refresh: 0",
                            "refresh: -1",
                            "refresh-after: 0s",
                            "refresh-after: 5",
                            "refresh-after: 1e9d",
                            "queue-pairs: 0",
                            "queue-pairs: 1e3",
                            "queue-bytes: 99999999999999999999",
                            "queue-bytes: 1",
                            "queue-bytes: 17179869184GiB",
                            "batch-pairs: 4097",
                            "workers: 0",
                            "p: nan",
                            "learn-queue-bytes: 1",
                            "learn-share: 0.91",
                            "learn-share: -0.1",
                            "learn-share: nan",
                            "feed-texts: yes",
                            "feed-texts:",
                            "seed: -1",
                            "pivots: 9000",
                            "held-back: 70000"}) {
    INFO(wrong);
    const auto told = complaint(fmt::format("streams: {{a: {{{}}}}}", wrong));
    CHECK(told.find("c.yaml:1: streams.a.") == 0);
    CHECK(told.find(": found ") != std::string::npos);
    CHECK(told.find(", expected ") != std::string::npos);
  }
}

TEST_CASE("The command line counts more than the file") {
  const std::string text =
      "service: tcp://127.0.0.1:1\nstreams:\n  v1.chat: {window: 100, x-encoder: vectors}\n  b:\n";
  const auto config = parse(text, {{"service", "ipc:///run/x,inproc://y"},
                                   {"ingest", ""},
                                   {"log-level", "debug"},
                                   {"log-level", "error"},
                                   {"streams.v1.chat.half-life", "2h"},
                                   {"streams.v1.chat.y-encoder", "vectors:dim=2,sparse=true"},
                                   {"streams.v1.chat.encoder", "hashing:dim=8"},
                                   {"streams.b.ingest", "tcp://127.0.0.1:5,tcp://127.0.0.1:6"},
                                   {"defaults.workers", "4"}});
  CHECK(config.service == std::vector<std::string>{"ipc:///run/x", "inproc://y"});
  CHECK(config.ingest.empty());
  CHECK(config.log_level == "error");
  const auto& chat = config.streams[0];
  CHECK(chat.spec.forgetting.mode == Forgetting::Mode::kHalfLifeSeconds);
  CHECK(chat.spec.x_encoder == EncoderSpec::parse("hashing:dim=8"));
  CHECK(chat.spec.y_encoder == EncoderSpec::parse("vectors:dim=2,sparse=true"));
  CHECK(chat.workers == 4);
  CHECK(config.streams[1].ingest.size() == 2);
  CHECK(written_value(config.streams[1], "ingest") == "tcp://127.0.0.1:5,tcp://127.0.0.1:6");
}

TEST_CASE("What is wrong on the command line is told with its path, after the file") {
  CHECK(complaint(with_stream("drain: x\n"), {{"service", "ipc:///a,b"},
                                              {"servise", "x"},
                                              {"streams", "x"},
                                              {"streams.chat.rank", "1"},
                                              {"streams.a.workers", "many"},
                                              {"defaults.rigde", "1"},
                                              {"subscribe", "tcp://a:1"},
                                              {"defaults.seed", "\xff"}}) ==
        "c.yaml:1: drain: found \"x\", expected a time from 0s to 1h, such as 10s\n"
        "--set defaults.rigde: found an unknown key, expected a known one such as ridge\n"
        "--set defaults.seed: found bytes that are no text, expected UTF-8\n"
        "--set service: found \"b\", expected tcp://ADDRESS:PORT, ipc://PATH or inproc://NAME, "
        "such as tcp://127.0.0.1:7470\n"
        "--set servise: found an unknown key, expected a known one such as service\n"
        "--set streams.a.workers: found \"many\", expected a whole number from 1 to 64\n"
        "--set streams.chat.rank: found no stream \"chat\" in the file, expected one\n"
        "--set streams: found no option, expected streams.NAME.OPTION or defaults.OPTION\n"
        "--set subscribe: found a subscription, expected it in the file");
}

TEST_CASE("Subscriptions connect to anywhere, for a stream that exists") {
  const auto config = parse(
      "subscribe:\n  - {endpoint: 'tcp://host.example:5', stream: a, topic: room/}\n"
      "  - {endpoint: 'tcp://host.example:5', stream: a}\n"
      "streams: {a: }\n");
  const std::vector<Subscription> expected = {{"tcp://host.example:5", "room/", "a"},
                                              {"tcp://host.example:5", "", "a"}};
  CHECK(config.subscribe == expected);
  CHECK(complaint("subscribe:\n"
                  "  - tcp://host:5\n"
                  "  - {stream: b}\n"
                  "  - endpoint: tcp://*:5\n"
                  "    stream: b\n"
                  "  - {endpoint: 'tcp://h:*', stream: a, topics: x}\n"
                  "  - {endpoint: 'tcp://h:1', stream: [a]}\n"
                  "  - {endpoint: 'tcp://h:2', stream: a}\n"
                  "  - {endpoint: 'tcp://h:2', stream: a}\n"
                  "streams: {a: }\n") ==
        "c.yaml:2: subscribe[0]: found \"tcp://host:5\", expected a mapping with endpoint and "
        "stream\n"
        "c.yaml:3: subscribe[1].endpoint: found none, expected one\n"
        "c.yaml:3: subscribe[1].stream: found \"b\", expected one of the streams\n"
        "c.yaml:4: subscribe[2].endpoint: found \"tcp://*:5\", expected an address and a port to "
        "connect to\n"
        "c.yaml:5: subscribe[2].stream: found \"b\", expected one of the streams\n"
        "c.yaml:6: subscribe[3].endpoint: found \"tcp://h:*\", expected an address and a port to "
        "connect to\n"
        "c.yaml:6: subscribe[3].topics: found an unknown key, expected a known one such as topic\n"
        "c.yaml:7: subscribe[4].stream: found a list, expected a text\n"
        "c.yaml:9: subscribe[6]: found the same subscription again, expected it once");
}

TEST_CASE("A daemon does not subscribe to its own feed") {
  const auto complaint_of = [](const char* feed, const char* endpoint) {
    return complaint(
        fmt::format("exposed: true\nfeed: {}\nsubscribe:\n  - {{endpoint: '{}', stream: "
                    "a}}\nstreams: {{a: }}\n",
                    feed, endpoint));
  };
  for (const auto& [feed, endpoint] :
       std::vector<std::pair<const char*, const char*>>{{"tcp://127.0.0.1:7", "tcp://127.0.0.1:7"},
                                                        {"tcp://127.0.0.1:7", "tcp://localhost:7"},
                                                        {"tcp://*:7", "tcp://127.0.0.1:7"},
                                                        {"tcp://0.0.0.0:7", "tcp://localhost:7"},
                                                        {"'tcp://[::]:7'", "tcp://[::1]:7"},
                                                        {"ipc:///x/feed", "ipc:///x/feed"}}) {
    CHECK(complaint_of(feed, endpoint) ==
          fmt::format("c.yaml:4: subscribe[0].endpoint: found \"{}\", which is the feed of this "
                      "daemon, expected another's",
                      endpoint));
  }
  CHECK(complaint_of("tcp://127.0.0.1:7", "tcp://127.0.0.1:8") == "none");
  CHECK(complaint_of("tcp://127.0.0.1:7", "tcp://127.0.0.2:7") == "none");
  CHECK(complaint_of("tcp://*:7", "tcp://host.example:7") == "none");
  CHECK(complaint_of("'tcp://127.0.0.1:*'", "tcp://127.0.0.1:7") == "none");
}

TEST_CASE("What is no YAML, or more of it than a configuration needs, is refused with its line") {
  CHECK(complaint("a: [1\nb: 2") ==
        "c.yaml:2: found broken YAML (end of sequence flow not found), expected KEY: VALUE lines");
  CHECK(complaint("a: b\n---\nc: d\n") == "c.yaml:2: found a second document, expected one");
  CHECK(complaint("a: &x 1\nb: *x\n") == "c.yaml:2: found an alias, expected what it stands for");
  CHECK(complaint("a: !!str 1\n") ==
        "c.yaml:1: found the tag tag:yaml.org,2002:str, expected none");
  CHECK(complaint("[a]: 1\n") == "c.yaml:1: found an empty list for a key, expected a text");
  CHECK(complaint("a: 1\nb: \xff\n") == "c.yaml:2: found bytes that are no text, expected UTF-8");
  CHECK(complaint(std::string_view("a\0b", 3)) ==
        "c.yaml:1: found bytes that are no text, expected UTF-8");
  for (const std::string opening : {"[", "{a: ", "- ", "? ", "a:\n "}) {
    std::string nested;
    while (nested.size() < 900000) nested += opening;
    INFO(opening);
    CHECK(complaint(nested).find("c.yaml:") == 0);
  }
  CHECK(complaint(std::string(kMaxYamlBytes + 1, ' ')).find("more than 1048576 bytes") !=
        std::string::npos);
  CHECK(complaint("a: " + std::string(kMaxYamlText + 1, 'x')).find("a text of 16385 bytes") !=
        std::string::npos);
}

TEST_CASE("Thousands of errors are told in a hundred lines") {
  std::string text = "streams:\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("  a{}: {{workerz: 1}}\n", i);
  const auto told = complaint(text);
  CHECK(std::count(told.begin(), told.end(), '\n') == 100);
  CHECK(told.ends_with("\nand 900 more"));
  std::string keys;
  for (int i = 0; i < 10000; ++i) keys += fmt::format("k{}: 1\n", i);
  CHECK(complaint(keys).find("found 10000 keys") != std::string::npos);
}

TEST_CASE("A message is one line, whatever the file has") {
  CHECK(complaint(with_stream("drain: \"a\\nb\\e[1m\"\n")) ==
        "c.yaml:1: drain: found \"a\\x0ab\\x1b[1m\", expected a time from 0s to 1h, such as 10s");
}

TEST_CASE("A file that cannot be read is told by its name") {
  const auto told = [](const std::string& file) -> std::string {
    try {
      static_cast<void>(read_config(file, {}));
    } catch (const Error& problem) {
      return problem.what();
    }
    return "none";
  };
  CHECK(told("/nowhere/c.yaml") ==
        "/nowhere/c.yaml: cannot be read (No such file or directory), expected a YAML file");
  CHECK(told("/tmp") == "/tmp: found a folder, expected a YAML file");
  CHECK(told("/dev/zero").find("/dev/zero: found more than 1048576 bytes") == 0);
  CHECK(told(source_path("config/phsicd.yaml")) == "none");
}

TEST_CASE("A stream's own cut replaces the one of the defaults, and there is one") {
  const auto config = parse(
      "defaults: {p: 0.2, duplicates: once}\n"
      "streams: {a: , b: {keep: 0.5}, c: {rules: [no_empty, no_urls], duplicates: learn}, d: "
      "{rules: []}}\n");
  CHECK(config.streams[0].plan().cut == CutSpec{CutSpec::Kind::kP, 0.2});
  CHECK(config.streams[0].plan().duplicates == DuplicatePolicy::kOnce);
  CHECK(config.streams[1].plan().cut == CutSpec{CutSpec::Kind::kKeep, 0.5});
  CHECK(config.streams[2].plan().rules == RuleSet::parse("no_empty,no_urls"));
  CHECK(config.streams[2].plan().duplicates == DuplicatePolicy::kLearn);
  CHECK(config.streams[3].plan().rules == RuleSet::none());
  CHECK(complaint("streams: {a: {keep: 0.5, p: 0.1}}").find("found keep and p") !=
        std::string::npos);
  CHECK(complaint("streams: {a: {estimator: pmi, p: 0.1}}").find("expected score") !=
        std::string::npos);
  const auto set =
      parse("defaults: {p: 0.2}\nstreams: {a: {fdr: 0.1}}", {{"streams.a.keep", "0.5"}});
  CHECK(set.streams[0].plan().cut == CutSpec{CutSpec::Kind::kKeep, 0.5});
}

TEST_CASE("A configuration that still has flag-p-value is told what to write instead") {
  for (const std::string place : {"defaults", "streams.a"}) {
    const auto text = place == "defaults" ? "defaults: {flag-p-value: 0.1}\nstreams: {a: }"
                                          : "streams:\n  a: {flag-p-value: 0.1}";
    const auto told = complaint(text);
    INFO(told);
    CHECK(told.find(place + ".flag-p-value: ") != std::string::npos);
    CHECK(told.find("write `p: VALUE` instead") != std::string::npos);
  }
}

TEST_CASE("What becomes of undecided pairs is no option of a daemon") {
  for (const auto* text : {"defaults: {undecided: keep}", "streams: {a: {undecided: reject}}"}) {
    const auto told = complaint(text);
    INFO(told);
    CHECK(told.find("undecided: found an option of filters") != std::string::npos);
    CHECK(told.find("phsic filter --undecided reject") != std::string::npos);
  }
}

TEST_CASE("Rules, duplicates and the cut may change while a daemon runs, their window not") {
  const auto running = parse("streams: {a: {p: 0.1}}");
  CHECK(refused_changes(running, parse("streams: {a: {keep: 0.5, rules: none, duplicates: learn}}"))
            .empty());
  CHECK(refused_changes(running, parse("streams: {a: {p: 0.1, duplicate-window: 5}}")) ==
        std::vector<std::string>{
            "streams.a.duplicate-window: found a change, expected none while the daemon runs"});
}

TEST_CASE("A running daemon takes new streams and a few changes, and refuses all others") {
  const auto running = parse("streams: {a: {encoder: hashing, window: 100}, b: }");
  CHECK(refused_changes(running, running).empty());
  CHECK(refused_changes(
            running, parse("log-level: debug\n"
                           "streams: {c: , b: {refresh: 10, refresh-after: 1s, feed-texts: true, "
                           "p: 0.5, queue-pairs: 1, queue-bytes: 1KiB, "
                           "learn-queue-pairs: 1, learn-queue-bytes: 1KiB, learn-share: 0}, a: "
                           "{window: 100, seed: 1}}"))
            .empty());
  const std::string change = "found a change, expected none while the daemon runs";
  const std::vector<std::string> expected = {
      "feed: " + change, "drain: " + change, "streams.a.window: " + change,
      "streams.a.workers: " + change,
      "streams.b: found no such stream, expected it to stay while the daemon runs"};
  CHECK(refused_changes(running,
                        parse("feed: []\ndrain: 1s\n"
                              "streams: {a: {encoder: hashing, window: 200, workers: 2}}")) ==
        expected);
}

}  // namespace phsic::tests
