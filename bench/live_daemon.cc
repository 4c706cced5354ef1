#include "bench/live_daemon.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace phsic::bench {
namespace {

std::vector<std::string> daemon_arguments(const Folder& folder,
                                          const std::vector<std::string>& settings) {
  std::vector<std::string> arguments = {"--set", "log-level=error"};
  for (const char* socket : {"service", "ingest", "feed"}) {
    arguments.insert(arguments.end(),
                     {"--set", fmt::format("{}=ipc://{}", socket, folder.path(socket))});
  }
  // The same pairs come again and again, and each time learning them is what is measured.
  arguments.insert(arguments.end(), {"--set", "streams.default.duplicates=learn"});
  for (const auto& setting : settings) {
    arguments.insert(arguments.end(), {"--set", fmt::format("streams.default.{}", setting)});
  }
  return arguments;
}

std::vector<std::string> keeping_arguments(const Folder& folder,
                                           const std::vector<std::string>& settings,
                                           const std::vector<std::string>& daemon_settings) {
  auto arguments = daemon_arguments(folder, settings);
  arguments.insert(arguments.end(), {"--set", fmt::format("state={}", folder.path("state.db"))});
  for (const auto& setting : daemon_settings) arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

}  // namespace

Process::Process(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> texts = {program};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  if (posix_spawn(&pid_, program.c_str(), nullptr, nullptr, pointers.data(), environ) != 0) {
    throw std::runtime_error(fmt::format("{}: cannot be started", program));
  }
}

Process::~Process() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

WireClient::WireClient(zmq::context_t& context, const std::string& endpoint)
    : socket_(context, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::rcvtimeo, 60000);
  socket_.set(zmq::sockopt::sndhwm, 0);
  socket_.set(zmq::sockopt::rcvhwm, 0);
  socket_.connect(endpoint);
}

void WireClient::send(std::span<const std::string_view> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    static_cast<void>(socket_.send(zmq::buffer(frames[i]), more));
  }
}

std::string WireClient::receive() {
  zmq::message_t first;
  if (!socket_.recv(first)) throw std::runtime_error("no answer within a minute");
  zmq::message_t rest;
  for (bool more = first.more(); more; more = rest.more()) static_cast<void>(socket_.recv(rest));
  return first.to_string();
}

nlohmann::json WireClient::ask(const std::string& request) {
  const std::string_view frame = request;
  send({&frame, 1});
  auto answer = nlohmann::json::parse(receive());
  if (!answer.at("ok").get<bool>()) throw std::runtime_error(answer.dump());
  return answer;
}

LiveDaemon::LiveDaemon(const std::vector<std::string>& settings)
    : process_(PHSICD_PROGRAM, daemon_arguments(folder_, settings)),
      client_(context_, endpoint("service")) {
  static_cast<void>(client_.ask(R"({"op":"ping"})"));
}

LiveDaemon::LiveDaemon(const std::vector<std::string>& settings,
                       const std::vector<std::string>& daemon_settings)
    : process_(PHSICD_PROGRAM, keeping_arguments(folder_, settings, daemon_settings)),
      client_(context_, endpoint("service")) {
  static_cast<void>(client_.ask(R"({"op":"ping"})"));
}

std::string LiveDaemon::endpoint(const char* socket) const {
  return fmt::format("ipc://{}", folder_.path(socket));
}

BareEcho::BareEcho()
    : process_(BARE_ECHO_PROGRAM, {fmt::format("ipc://{}", folder_.path("echo"))}),
      client_(context_, fmt::format("ipc://{}", folder_.path("echo"))) {}

}  // namespace phsic::bench
