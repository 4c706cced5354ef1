#include "bench/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace phsic::bench {
namespace {

std::string floats(std::size_t rows, std::size_t dim, Random& random) {
  std::vector<float> values(rows * dim);
  for (auto& value : values) value = static_cast<float>(random.normal());
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) throw std::runtime_error("nothing was measured");
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

// Sentences are letters and blanks: nothing to escape.
std::string request(std::string_view members, const TextSample& sample, std::size_t first,
                    std::size_t count) {
  std::string text = fmt::format("{{{}\"pairs\":[", members);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = (first + i) % sample.x.size();
    fmt::format_to(std::back_inserter(text), "{}[\"{}\",\"{}\"]", i > 0 ? "," : "", sample.x[row],
                   sample.y[row]);
  }
  return text + "]}";
}

void send(WireClient& client, const Frames& frames) {
  const std::vector<std::string_view> views(frames.begin(), frames.end());
  client.send(views);
}

void require_ok(const std::string& answer) {
  if (!answer.starts_with("{\"ok\":true")) throw std::runtime_error(answer);
}

void teach(WireClient& client, const TextSample& sample) {
  for (std::size_t first = 0; first < kLearned; first += 1024) {
    static_cast<void>(client.ask(request("\"op\":\"learn\",\"wait\":true,", sample, first, 1024)));
  }
  static_cast<void>(client.ask(R"({"op":"refresh","all":true})"));
}

Frames vectors(std::string_view op, std::size_t rows, std::size_t dim, Random& random) {
  return {fmt::format(R"({{"op":"{}","x":{{"rows":{},"dim":{}}},"y":{{"rows":{},"dim":{}}}}})", op,
                      rows, dim, rows, dim),
          floats(rows, dim, random), floats(rows, dim, random)};
}

double pipelined_rate(WireClient& client, const std::vector<std::string>& requests,
                      std::size_t pairs_each, std::size_t in_flight) {
  const auto began = Clock::now();
  std::size_t sent = 0;
  std::size_t answered = 0;
  while (answered < requests.size()) {
    while (sent < requests.size() && sent - answered < in_flight) {
      const std::string_view frame = requests[sent++];
      client.send({&frame, 1});
    }
    require_ok(client.receive());
    ++answered;
  }
  return static_cast<double>(requests.size() * pairs_each) / since(began);
}

std::vector<double> paced_latencies(WireClient& client, const Frames& frames, double rate,
                                    double seconds) {
  std::vector<double> latencies;
  std::vector<Clock::time_point> due;
  const auto began = Clock::now();
  const auto total = static_cast<std::size_t>(rate * seconds);
  std::size_t sent = 0;
  while (latencies.size() < total) {
    const auto now = Clock::now();
    if (now - began > std::chrono::duration<double>(seconds + 60)) {
      throw std::runtime_error("answers are missing");
    }
    while (sent < total &&
           now >= began + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(static_cast<double>(sent) / rate))) {
      send(client, frames);
      due.push_back(Clock::now());
      ++sent;
    }
    zmq::message_t answer;
    while (client.socket().recv(answer, zmq::recv_flags::dontwait)) {
      // One client's answers to equal requests come in order.
      latencies.push_back(since(due[latencies.size()]));
    }
    zmq::pollitem_t item{client.socket().handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, std::chrono::milliseconds(sent < total ? 0 : 10));
  }
  return latencies;
}

}  // namespace phsic::bench
