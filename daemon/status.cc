#include "daemon/status.h"

#include <unistd.h>

#include <cstdint>

#include "daemon/memory.h"

namespace phsic {

void Status::answer(const Request& request, Outcome& outcome) {
  switch (request.operation) {
    case Operation::kPing: outcome.facts = ping_facts(); break;
    case Operation::kStreams: outcome.facts = streams_facts(); break;
    default: outcome.facts = stats_facts(request); break;
  }
}

PingFacts Status::ping_facts() const {
  PingFacts facts;
  facts.version = PHSIC_VERSION;
  transports_.add_facts(facts);
  if (starter_.is_starting()) {
    facts.starting = starter_.facts();
  } else if (const auto* writer = opener_.state_writer()) {
    facts.is_keeping = writer->is_keeping();
  }
  return facts;
}

StreamsFacts Status::streams_facts() {
  StreamsFacts facts;
  for (auto& [name, stream] : registry_.all()) {
    const auto statistics = stream.lane().statistics();
    facts.streams.push_back(
        {name, stream.lane().settings().options, statistics.pairs, statistics.published->number});
  }
  facts.request_pairs = config_.request_pairs;
  facts.message_bytes = config_.message_bytes;
  return facts;
}

StatsFacts Status::stats_facts(const Request& request) {
  StatsFacts facts;
  const auto* only = request.stream.empty() ? nullptr : &registry_.find(request.stream);
  const bool is_one = only != nullptr || registry_.all().size() == 1;
  for (auto& [name, stream] : registry_.all()) {
    if (only != nullptr && only != &stream) continue;
    facts.streams.push_back({name, stream.statistics(), request.calibration && is_one});
  }
  auto& daemon = facts.daemon;
  daemon.version = PHSIC_VERSION;
  daemon.pid = static_cast<std::uint64_t>(getpid());
  daemon.uptime = std::chrono::duration<double>(Clock::now() - began_).count();
  daemon.memory = resident_bytes();
  transports_.add_statistics(daemon);
  daemon.reloads = reloader_.taken_over();
  daemon.refused_reloads = reloader_.refused();
  if (const auto* writer = opener_.state_writer()) {
    facts.state = StateStatistics{writer->file(),   writer->is_keeping(), writer->commits(),
                                  writer->bytes(),  writer->failures(),   writer->log_bytes(),
                                  writer->problem()};
  }
  return facts;
}

}  // namespace phsic
