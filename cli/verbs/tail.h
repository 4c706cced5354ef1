// phsic tail: follows the daemon's feed.
#pragma once

#include <cstdint>
#include <string>

#include "cli/client/connect_arguments.h"
#include "cli/client/feed_view.h"

namespace phsic {

struct TailArguments {
  FeedFilter filter;
  std::uint64_t count = 0;  // 0: until Ctrl-C
  bool json = false;
  std::string endpoint;  // of the feed; empty: the daemon is asked
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_tail(const TailArguments& arguments);

}  // namespace phsic
