#include "cli/table/progress.h"

#include <catch2/catch.hpp>
#include <sstream>

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;

struct Screen {
  double now = 100;
  std::ostringstream stream;

  [[nodiscard]] Progress progress(bool is_terminal) {
    return Progress(stream, is_terminal, [this] { return now; });
  }
};

TEST_CASE("Nothing is shown to what is no terminal") {
  Screen screen;
  {
    Progress progress = screen.progress(false);
    screen.now += 10;
    progress.update(100, 50, 100);
  }
  CHECK(screen.stream.str().empty());
}

TEST_CASE("Percentage, rate and time left are shown, and erased at the end") {
  Screen screen;
  {
    Progress progress = screen.progress(true);
    screen.now += 30;
    progress.update(600, 25, 100);
    CHECK_THAT(screen.stream.str(), Contains("600 lines, 20 lines/s, 25%, 1:30 left"));
    screen.now += 1e4;
    progress.update(700, 50, 100);
    CHECK_THAT(screen.stream.str(), Contains("50%, 2:47:10 left"));
  }
  CHECK_THAT(screen.stream.str(), EndsWith("\r\x1b[K"));
}

TEST_CASE("Without a size there is a rate only") {
  Screen screen;
  Progress progress = screen.progress(true);
  screen.now += 2;
  progress.update(10, 25, std::nullopt);
  CHECK_THAT(screen.stream.str(), Contains("\r10 lines, 5 lines/s\x1b[K"));
  screen.now += 2;
  progress.update(20, 0, 0);
  CHECK_THAT(screen.stream.str(), !Contains("%"));
}

TEST_CASE("A file that has grown is not more than wholly read") {
  Screen screen;
  Progress progress = screen.progress(true);
  screen.now += 2;
  progress.update(10, 250, 100);
  CHECK_THAT(screen.stream.str(), Contains("100%, 0:00 left"));
}

TEST_CASE("The line changes ten times a second at most") {
  Screen screen;
  Progress progress = screen.progress(true);
  for (int i = 0; i < 1000; ++i) {
    screen.now += 0.001;
    progress.update(1, 1, 10);
  }
  const std::string shown = screen.stream.str();
  const auto count = std::count(shown.begin(), shown.end(), '\r');
  CHECK(count >= 9);
  CHECK(count <= 10);
}

TEST_CASE("The line can be taken away for a message and comes back") {
  Screen screen;
  Progress progress = screen.progress(true);
  progress.erase();
  CHECK(screen.stream.str().empty());
  screen.now += 1;
  progress.update(1, 1, 10);
  progress.erase();
  const std::string once = screen.stream.str();
  CHECK_THAT(once, EndsWith("\r\x1b[K"));
  progress.erase();
  CHECK(screen.stream.str() == once);
  screen.now += 1;
  progress.update(2, 2, 10);
  CHECK(screen.stream.str().size() > once.size());
}

}  // namespace
}  // namespace phsic::test
