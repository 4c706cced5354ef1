// Answers what a daemon is asked about itself: `ping`, `streams` and `stats`.
//
// Belongs to the loop's thread.
#pragma once

#include <chrono>

#include "daemon/config.h"
#include "daemon/net/transports.h"
#include "daemon/registry.h"
#include "daemon/reloader.h"
#include "daemon/starter.h"
#include "daemon/stream_opener.h"
#include "wire/facts.h"
#include "wire/outcome.h"
#include "wire/request.h"

namespace phsic {

class Status {
 public:
  // `config` is the configuration in force, also after a reload. All of these outlive this.
  Status(const Config& config, Registry& registry, const Transports& transports,
         const Starter& starter, const Reloader& reloader, const StreamOpener& opener)
      : config_(config),
        registry_(registry),
        transports_(transports),
        starter_(starter),
        reloader_(reloader),
        opener_(opener) {}

  // Writes the answer into the outcome. Throws a RequestError if the stream is not known.
  void answer(const Request& request, Outcome& outcome);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] PingFacts ping_facts() const;
  [[nodiscard]] StreamsFacts streams_facts();
  [[nodiscard]] StatsFacts stats_facts(const Request& request);

  const Config& config_;
  Registry& registry_;
  const Transports& transports_;
  const Starter& starter_;
  const Reloader& reloader_;
  const StreamOpener& opener_;
  const Clock::time_point began_ = Clock::now();
};

}  // namespace phsic
