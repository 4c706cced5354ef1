#include "cli/interrupt.h"

#include <csignal>

namespace phsic {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t was_interrupted = 0;  // NOLINT: handlers have nothing else

extern "C" void note_interrupt(int /*signal*/) { was_interrupted = 1; }

void handle(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  was_interrupted = 0;
  // Without SA_RESTART, so that who waits for input wakes up.
  constexpr auto kOnce = static_cast<int>(SA_RESETHAND);
  handle(note_interrupt, kOnce);
}

Interrupt::~Interrupt() { handle(SIG_DFL, 0); }

bool Interrupt::is_wanted() { return was_interrupted != 0; }

}  // namespace phsic
