// Messages in, answers out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "daemon/log.h"
#include "daemon/server.h"
#include "engine/reason.h"
#include "wire/answer_writer.h"
#include "wire/json_text.h"
#include "wire/via.h"

namespace phsic {
namespace {

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Where a message came from: an address, or who is at the other end of a local socket.
std::string_view peer_of(const Frames& frames) {
  const char* address = zmq_msg_gets(frames.back().handle(), "Peer-Address");
  return address == nullptr ? "" : address;
}

void append_texts(std::string_view name, const std::vector<std::string>& texts, std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_text(out, texts[i]);
  }
  out += ']';
}

}  // namespace

void Server::take_request(Frames& frames) {
  ++requests_;
  auto job = std::make_shared<Job>();
  job->arrived = Clock::now();
  job->arrival_time = seconds_since_1970();
  job->client = frames.front().to_string();
  // A REQ socket sends an empty frame first, and expects one.
  job->has_delimiter = frames.size() > 1 && frames[1].empty();
  frame_views_.clear();
  for (std::size_t i = job->has_delimiter ? 2 : 1; i < frames.size(); ++i) {
    frame_views_.push_back(frames[i].to_string_view());
  }
  try {
    require_small(frames);
    decoder_.request(frame_views_, *job);
    if (is_starting_ && job->operation != Operation::kPing) {
      keep_early(job);
    } else {
      serve(job);
    }
  } catch (...) {
    refuse(*job);
  }
}

// REQUIRES: an exception is being handled, which says why.
void Server::refuse(const Job& job) {
  try {
    throw;
  } catch (const RequestError& problem) {
    ++bad_requests_;
    reply(job, error_reply(job.id, problem.code(), problem.what()));
  } catch (const std::exception& problem) {
    ++bad_requests_;
    reply(job, error_reply(job.id, "failed", reason(problem)));
  }
}

void Server::require_small(const Frames& frames) const {
  for (const auto& frame : frames) {
    if (frame.size() <= config_.message_bytes) continue;
    log(LogLevel::kWarning, "message too large",
        {{"peer", peer_of(frames)}, {"bytes", frame.size()}});
    throw RequestError("too_large", fmt::format("found a frame of {} bytes, expected {} or fewer",
                                                frame.size(), config_.message_bytes));
  }
}

void Server::serve(const std::shared_ptr<Job>& job) {
  switch (job->operation) {
    case Operation::kPing: reply(*job, ping_reply(*job)); return;
    case Operation::kStats: reply(*job, stats_reply(*job)); return;
    case Operation::kStreams: reply(*job, streams_reply(*job)); return;
    default: hand_over(job); return;
  }
}

void Server::hand_over(const std::shared_ptr<Job>& job) {
  auto& lane = *served(job->stream).lane;
  if (is_draining_) {
    reply(*job, error_reply(job->id, "shutting_down", "the daemon is about to end"));
    return;
  }
  if (lane.score_here(job)) {
    finish(*job);
    return;
  }
  if (lane.offer(job)) return;
  reply(*job,
        error_reply(job->id, "overloaded",
                    fmt::format("stream {} has too much to do, try again later", lane.name())));
}

Server::Served& Server::served(const std::string& stream) {
  if (stream.empty() && streams_.size() == 1) return streams_.begin()->second;
  if (const auto found = streams_.find(stream); found != streams_.end()) return found->second;
  std::string names;
  for (const auto& [name, served] : streams_) names += (names.empty() ? "" : ", ") + name;
  throw RequestError("unknown_stream",
                     stream.empty() ? fmt::format("no stream is named, expected one of {}", names)
                                    : fmt::format("there is no stream {}, expected one of {}",
                                                  quoted_json(stream), names));
}

// False: there is nothing to learn in it, because another daemon's feed has said it before, or says
// something else.
bool Server::read_message(Entrance& entrance, Frames& frames, Job& job) {
  require_small(frames);
  frame_views_.clear();
  const bool skips_topic =
      entrance.has_topic && frames.size() > 1 && !frames[0].to_string_view().starts_with('{');
  for (std::size_t i = skips_topic ? 1 : 0; i < frames.size(); ++i) {
    frame_views_.push_back(frames[i].to_string_view());
  }
  if (!decoder_.message(frame_views_, entrance.is_strict, job)) return false;
  if (!job.via.empty()) {
    if (std::find(job.via.begin(), job.via.end(), feed_->name()) != job.via.end()) return false;
    if (skips_topic && is_copy(frames[0].to_string_view(), entrance.topic)) return false;
  }
  if (entrance.stream.empty()) return true;
  if (entrance.is_strict && !job.stream.empty() && job.stream != entrance.stream) {
    throw RequestError("unknown_stream", fmt::format("found stream {}, expected {}",
                                                     quoted_json(job.stream), entrance.stream));
  }
  job.stream = entrance.stream;
  return true;
}

void Server::take_message(Entrance& entrance, Frames& frames) {
  ++messages_;
  try {
    auto job = std::make_shared<Job>();
    job->arrived = Clock::now();
    job->arrival_time = seconds_since_1970();
    if (read_message(entrance, frames, *job)) {
      let_in(entrance, std::move(job));
    } else {
      ++passed_over_;
    }
  } catch (const std::exception& problem) {
    ++bad_messages_;
    log(LogLevel::kWarning, "bad message",
        {{"peer", peer_of(frames)}, {"problem", reason(problem)}});
  }
}

// When the lane is full the message is parked, and the entrance closed until there is room: the
// sender feels it.
void Server::let_in(Entrance& entrance, std::shared_ptr<Job> job) {
  auto& lane = job->lane != nullptr ? *job->lane : *served(job->stream).lane;
  if (lane.offer(job)) {
    if (entrance.socket->is_paused()) entrance.socket->resume();
    return;
  }
  if (!entrance.socket->is_paused()) ++stalled_;
  entrance.parked = std::move(job);
  entrance.socket->pause();
}

void Server::reply(const Job& job, std::string text) {
  const auto size = text.size();
  if (!outbox_->send(job.client, job.has_delimiter, std::move(text))) {
    // Silence would be worse. A client that does not read this either is not waiting for it.
    auto instead =
        error_reply(job.id, "failed",
                    fmt::format("the answer of {} bytes is lost because clients leave too much "
                                "unread; what was to be learned has been learned",
                                size));
    if (!outbox_->send(job.client, job.has_delimiter, std::move(instead))) outbox_->note_lost();
  }
  flush_later();
}

std::string Server::ping_reply(const Job& job) const {
  std::string out;
  begin_reply(job.id, out);
  fmt::format_to(std::back_inserter(out), ",\"version\":\"{}\",\"endpoints\":{{", PHSIC_VERSION);
  append_texts("service", service_->endpoints(), out);
  out += ',';
  std::vector<std::string> ingest;
  for (const auto& entrance : entrances_) {
    const auto& endpoints = entrance->socket->endpoints();
    if (entrance->stream.empty()) ingest.insert(ingest.end(), endpoints.begin(), endpoints.end());
  }
  append_texts("ingest", ingest, out);
  out += ',';
  append_texts("feed", feed_socket_->endpoints(), out);
  out += '}';
  if (state_writer_ != nullptr) {
    fmt::format_to(std::back_inserter(out), ",\"keeping\":{}", state_writer_->is_keeping());
  }
  if (is_starting_) append_start(out);
  out += '}';
  return out;
}

void Server::append_latency(Latency& latency, std::string& out) const {
  const auto now = Clock::now();
  fmt::format_to(std::back_inserter(out),
                 ",\"latency\":{{\"p50\":{:.3g},\"p90\":{:.3g},\"p99\":{:.3g},\"max\":{:.3g}}}",
                 latency.quantile(0.5, now), latency.quantile(0.9, now),
                 latency.quantile(0.99, now), latency.longest(now));
}

std::string Server::stats_reply(const Job& job) {
  std::string out;
  begin_reply(job.id, out);
  out += ",\"streams\":{";
  const auto* only = job.stream.empty() ? nullptr : &served(job.stream);
  bool is_first = true;
  for (auto& [name, served] : streams_) {
    if (only != nullptr && only != &served) continue;
    if (!is_first) out += ',';
    is_first = false;
    append_json_text(out, name);
    out += ":{";
    served.lane->append_stats(out);
    append_latency(served.latency, out);
    if (job.calibration && (only != nullptr || streams_.size() == 1)) {
      out += ",\"calibration\":{";
      served.lane->append_calibration(out);
      out += '}';
    }
    out += '}';
  }
  const double uptime = std::chrono::duration<double>(Clock::now() - started_).count();
  fmt::format_to(std::back_inserter(out),
                 "}},\"daemon\":{{\"version\":\"{}\",\"pid\":{},\"uptime\":{:.3f},\"memory\":{},"
                 "\"requests\":{},\"replies\":{},\"bad_requests\":{},\"lost_replies\":{},"
                 "\"messages\":{},\"bad_messages\":{},\"passed_over\":{},\"stalled\":{},"
                 "\"published\":{},\"left_out\":{},"
                 "\"closed\":{},\"reloads\":{},\"refused_reloads\":{}",
                 PHSIC_VERSION, getpid(), uptime, resident_bytes(), requests_, outbox_->sent(),
                 bad_requests_, outbox_->lost(), messages_, bad_messages_, passed_over_, stalled_,
                 feed_->published(), feed_->left_out(), connections_.cut(), reloads_,
                 refused_reloads_);
  if (state_writer_ != nullptr) append_state(out);
  out += "}}";
  return out;
}

void Server::append_state(std::string& out) const {
  out += ",\"state\":{\"file\":";
  append_json_text(out, state_writer_->file());
  fmt::format_to(std::back_inserter(out),
                 ",\"keeping\":{},\"commits\":{},\"bytes\":{},\"failures\":{},\"log_bytes\":{}",
                 state_writer_->is_keeping(), state_writer_->commits(), state_writer_->bytes(),
                 state_writer_->failures(), state_writer_->log_bytes());
  if (const auto problem = state_writer_->problem(); !problem.empty()) {
    out += ",\"problem\":";
    append_json_text(out, problem);
  }
  out += '}';
}

std::string Server::streams_reply(const Job& job) const {
  std::string out;
  begin_reply(job.id, out);
  out += ",\"streams\":[";
  bool is_first = true;
  for (const auto& [name, served] : streams_) {
    if (!is_first) out += ',';
    is_first = false;
    out += "{\"name\":";
    append_json_text(out, name);
    fmt::format_to(std::back_inserter(out), ",\"options\":{},\"pairs\":{},\"model\":{}}}",
                   json_object(served.lane->settings().options), served.lane->learned(),
                   served.lane->stream().published()->number);
  }
  fmt::format_to(std::back_inserter(out),
                 "],\"limits\":{{\"request_pairs\":{},\"message_bytes\":{}}}}}",
                 config_.request_pairs, config_.message_bytes);
  return out;
}

}  // namespace phsic
