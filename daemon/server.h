// The daemon: sockets on one side, lanes on the other, one loop between them.
//
// Everything here happens in the thread that calls run(), but for the LaneListener, through which
// lanes hand in what they are done with.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "daemon/config.h"
#include "daemon/memory.h"
#include "daemon/net/connections.h"
#include "daemon/net/feed.h"
#include "daemon/net/outbox.h"
#include "daemon/net/socket.h"
#include "daemon/restart.h"
#include "daemon/serving/lane.h"
#include "daemon/serving/latency.h"
#include "daemon/start_progress.h"
#include "state/state_lock.h"
#include "state/state_writer.h"
#include "wire/decode.h"

namespace phsic {

class Server : private LaneListener {
 public:
  // Locks the state and binds the sockets. `reread` gives the configuration anew; it throws an
  // Error that says what is wrong with it. Throws an Error.
  Server(Config config, std::function<Config()> reread, StartMode mode);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;

  // Opens the streams and serves until SIGTERM or SIGINT. Returns the exit status: 0 when all that
  // was accepted has been answered. Throws an Error when it cannot start.
  int run();

 private:
  using Clock = std::chrono::steady_clock;

  // A stream with what the loop keeps of it.
  struct Served {
    std::unique_ptr<Lane> lane;
    Latency latency;
    std::uint64_t overloaded_told = 0;  // refused requests that the feed knows of
  };
  // A way in for pairs without a client.
  struct Entrance {
    std::unique_ptr<Socket> socket;
    std::string stream;           // of all its pairs; empty: as each message says
    bool is_strict = true;        // unknown members are errors
    bool has_topic = false;       // a frame before the JSON, perhaps
    std::string topic;            // the prefix that was subscribed to
    std::shared_ptr<Job> parked;  // waits for room in its lane
  };

  // A stream on its way to its lane.
  struct Prepared {
    OpenedStream opened;
    std::unique_ptr<StreamJournal> journal;
    std::map<std::string, std::uint64_t> feed;  // the last numbers that were given
  };
  struct Started {
    std::unique_ptr<StateWriter> state_writer;  // outlives the ledgers
    std::vector<Prepared> streams;
  };

  // server_start.cc: from a configuration to streams at work.
  void lock_state();
  void begin_start();
  void open_all(Started& started);
  [[nodiscard]] std::unique_ptr<StateWriter> make_state_writer();
  // Any thread.
  [[nodiscard]] Prepared prepare(const StreamSettings& settings, OpenedStream opened,
                                 const std::map<std::string, std::uint64_t>& feed,
                                 StateWriter* state_writer) const;
  void end_start(Started& started, const std::exception_ptr& failure);
  void finish_start(Started& started);
  void show_start();
  void append_start(std::string& out) const;
  void keep_early(const std::shared_ptr<Job>& job);
  void break_off_start();

  // server.cc: life.
  void add_stream(const StreamSettings& settings, Prepared prepared);
  void show_keeping(bool keeping, const std::string& message);
  void show_log(std::uint64_t bytes);
  [[nodiscard]] std::unique_ptr<Socket> make_socket(zmq::socket_type type);
  void open_sockets();
  void start_reading();
  [[nodiscard]] std::unique_ptr<Entrance> make_entrance(const std::vector<std::string>& endpoints,
                                                        const std::string& stream);
  void open(std::unique_ptr<Entrance> made);
  void read(Entrance& entrance);
  void open_subscriptions();
  void show_life(std::chrono::microseconds interval);
  void await_signal();
  void on_signal(int signal);
  void tick();
  void relieve();
  void arm_drain_timer();
  void drain();
  void stop_if_drained();
  void tell_audience();

  // server_reload.cc: SIGHUP.
  void reload();
  [[nodiscard]] std::map<std::string, Prepared> prepare_new(const Config& running,
                                                            const Config& wanted);
  static void withdraw(std::map<std::string, Prepared>& added);
  void finish_reload(Config wanted, std::map<std::string, Prepared> added);
  void refuse_reload(const std::string& why);

  // server_requests.cc: messages in, answers out.
  void take_request(Frames& frames);
  void require_small(const Frames& frames) const;
  void refuse(const Job& job);
  void serve(const std::shared_ptr<Job>& job);
  void hand_over(const std::shared_ptr<Job>& job);
  void take_message(Entrance& entrance, Frames& frames);
  [[nodiscard]] bool read_message(Entrance& entrance, Frames& frames, Job& job);
  void let_in(Entrance& entrance, std::shared_ptr<Job> job);
  [[nodiscard]] Served& served(const std::string& stream);
  void reply(const Job& job, std::string text);
  [[nodiscard]] std::string ping_reply(const Job& job) const;
  [[nodiscard]] std::string stats_reply(const Job& job);
  void append_state(std::string& out) const;
  [[nodiscard]] std::string streams_reply(const Job& job) const;
  void append_latency(Latency& latency, std::string& out) const;
  void take_deliveries();
  void finish(Job& job);
  void publish(const Job& job);
  void flush_later();

  // The LaneListener, in any thread.
  void deliver(std::shared_ptr<Job> job) override;
  void announce(Lane& lane, std::string event) override;
  void make_way(Lane& lane) override;
  void closed(Lane& lane) override;
  void call_loop();

  Config config_;
  std::function<Config()> reread_;
  boost::asio::io_context loop_;
  std::unique_ptr<StateLock> state_lock_;      // null, and no state writer: nothing is kept
  std::unique_ptr<StateWriter> state_writer_;  // calls the loop
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer drain_timer_;
  boost::asio::steady_timer watchdog_;
  boost::asio::steady_timer flusher_;
  Connections connections_;  // outlives the context
  zmq::context_t context_;
  std::unique_ptr<Socket> service_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<Socket> feed_socket_;
  std::unique_ptr<Feed> feed_;
  std::vector<std::unique_ptr<Entrance>> entrances_;
  SpareMemory spare_memory_;
  Decoder decoder_;
  std::vector<std::string_view> frame_views_;

  // While it starts.
  const StartMode start_mode_;
  bool is_starting_ = true;
  StartProgress progress_;  // of a reload, too
  std::vector<std::shared_ptr<Job>> early_;
  std::size_t early_bytes_ = 0;
  std::uint64_t steps_shown_ = 0;
  std::exception_ptr failure_;  // why it could not
  std::thread starter_;

  bool is_draining_ = false;
  bool flushes_later_ = false;
  bool is_reloading_ = false;
  bool reloads_again_ = false;  // asked for during a reload
  std::size_t lanes_closed_ = 0;
  std::optional<Clock::time_point> grace_ends_;
  int status_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point start_told_ = started_;
  std::thread reloader_;

  std::uint64_t requests_ = 0;
  std::uint64_t bad_requests_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t bad_messages_ = 0;
  std::uint64_t passed_over_ = 0;
  std::uint64_t stalled_ = 0;
  std::uint64_t reloads_ = 0;
  std::uint64_t left_out_told_ = 0;  // of the feed's, those that the log knows of
  std::uint64_t refused_reloads_ = 0;

  std::mutex listener_mutex_;  // guards what lanes have handed in
  std::vector<std::shared_ptr<Job>> delivered_;
  std::vector<std::pair<Lane*, std::string>> announced_;
  std::vector<Lane*> ways_;
  std::vector<Lane*> closed_;
  bool is_called_ = false;

  // Last, so that the lanes' threads end before what they hand their results to.
  std::map<std::string, Served> streams_;
};

}  // namespace phsic
