// Processes that a wire is measured with: a phsicd of its own, and a bare ZeroMQ echo.
#pragma once

#include <sys/types.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "tests/folder.h"

namespace phsic::bench {

// A program that ends with this.
class Process {
 public:
  Process(const std::string& program, const std::vector<std::string>& arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;

 private:
  pid_t pid_ = 0;
};

using test::Folder;

// A DEALER that waits for its answers.
class WireClient {
 public:
  WireClient(zmq::context_t& context, const std::string& endpoint);

  void send(std::span<const std::string_view> frames);
  // Throws when nothing comes within a minute.
  [[nodiscard]] std::string receive();
  // The answer of a daemon. Throws unless it is ok.
  nlohmann::json ask(const std::string& request);
  [[nodiscard]] zmq::socket_t& socket() { return socket_; }

 private:
  zmq::socket_t socket_;
};

class LiveDaemon {
 public:
  // One stream, "default", with these settings: "encoder=hashing".
  explicit LiveDaemon(const std::vector<std::string>& settings);
  // The same with a state, and settings of the daemon: "journal=keep".
  LiveDaemon(const std::vector<std::string>& settings,
             const std::vector<std::string>& daemon_settings);

  [[nodiscard]] zmq::context_t& context() { return context_; }
  [[nodiscard]] std::string endpoint(const char* socket) const;
  [[nodiscard]] WireClient& client() { return client_; }
  [[nodiscard]] std::string state() const { return folder_.path("state.db"); }
  // A new connection.
  [[nodiscard]] WireClient connect() { return {context_, endpoint("service")}; }

 private:
  Folder folder_;
  Process process_;
  zmq::context_t context_;
  WireClient client_;
};

class BareEcho {
 public:
  BareEcho();
  [[nodiscard]] WireClient& client() { return client_; }

 private:
  Folder folder_;
  Process process_;
  zmq::context_t context_;
  WireClient client_;
};

}  // namespace phsic::bench
