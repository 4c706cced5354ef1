#include "wire/facts.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "core/calibration.h"
#include "engine/batch.h"
#include "wire/json_text.h"

namespace phsic {
namespace {

void append_texts(std::string_view name, const std::vector<std::string>& texts, std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_text(out, texts[i]);
  }
  out += ']';
}

void append_numbers(std::string_view name, const std::vector<double>& values, std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_json_number(out, values[i]);
  }
  out += ']';
}

struct AppendFacts {
  std::string& out;

  void operator()(std::monostate /*nothing*/) const {}

  void operator()(const PingFacts& facts) const {
    out += ",\"version\":";
    append_json_text(out, facts.version);
    out += ",\"endpoints\":{";
    append_texts("service", facts.service, out);
    out += ',';
    append_texts("ingest", facts.ingest, out);
    out += ',';
    append_texts("feed", facts.feed, out);
    out += '}';
    if (facts.is_keeping) {
      fmt::format_to(std::back_inserter(out), ",\"keeping\":{}", *facts.is_keeping);
    }
    if (facts.starting) append(*facts.starting);
  }

  void operator()(const StreamsFacts& facts) const {
    out += ",\"streams\":[";
    for (std::size_t i = 0; i < facts.streams.size(); ++i) {
      const auto& stream = facts.streams[i];
      out += i > 0 ? ",{\"name\":" : "{\"name\":";
      append_json_text(out, stream.name);
      fmt::format_to(std::back_inserter(out), ",\"options\":{},\"pairs\":{},\"model\":{}}}",
                     json_object(stream.options), stream.pairs, stream.model);
    }
    fmt::format_to(std::back_inserter(out),
                   "],\"limits\":{{\"request_pairs\":{},\"message_bytes\":{}}}",
                   facts.request_pairs, facts.message_bytes);
  }

  void operator()(const StatsFacts& facts) const {
    out += ",\"streams\":{";
    for (std::size_t i = 0; i < facts.streams.size(); ++i) {
      if (i > 0) out += ',';
      append(facts.streams[i]);
    }
    out += "},\"daemon\":{";
    append_statistics(facts.daemon.list(), out);
    if (facts.state) {
      out += ",\"state\":{";
      append_statistics(facts.state->list(), out);
      out += '}';
    }
    out += '}';
  }

 private:
  void append(const PingFacts::Starting& starting) const {
    out += ",\"starting\":{\"doing\":";
    append_json_text(out, starting.doing);
    if (!starting.stream.empty()) {
      out += ",\"stream\":";
      append_json_text(out, starting.stream);
    }
    fmt::format_to(std::back_inserter(out), ",\"pairs\":{},\"of\":{},\"seconds\":{:.3f}}}",
                   starting.pairs, starting.of, starting.seconds);
  }

  void append(const StatsFacts::Stream& stream) const {
    append_json_text(out, stream.name);
    out += ":{";
    append_statistics(stream.statistics.list(), out);
    if (stream.has_calibration) {
      const auto& calibration = stream.statistics.published->calibration();
      out += ",\"calibration\":{";
      append_numbers("matched", calibration.matched(), out);
      out += ',';
      append_numbers("null", calibration.null(), out);
      out += '}';
    }
    out += '}';
  }
};

}  // namespace

std::string facts_json(const DaemonFacts& facts) {
  std::string out;
  std::visit(AppendFacts{out}, facts);
  return out;
}

}  // namespace phsic
