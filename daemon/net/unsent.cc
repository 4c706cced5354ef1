#include "daemon/net/unsent.h"

#include <utility>

namespace phsic {
namespace {

class Counted {
 public:
  Counted(std::string text, std::shared_ptr<Unsent> unsent)
      : text_(std::move(text)), unsent_(std::move(unsent)) {
    unsent_->add(cost());
  }
  ~Counted() { unsent_->remove(cost()); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted(Counted&&) = delete;
  Counted& operator=(Counted&&) = delete;

  [[nodiscard]] std::string& text() { return text_; }

 private:
  [[nodiscard]] std::uint64_t cost() const { return text_.capacity() + Unsent::kMessageCost; }

  std::string text_;
  std::shared_ptr<Unsent> unsent_;
};

}  // namespace

void Unsent::add(std::uint64_t bytes) {
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (whole_ != nullptr) whole_->add(bytes);
}

void Unsent::remove(std::uint64_t bytes) {
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (whole_ != nullptr) whole_->remove(bytes);
}

zmq::message_t counted_message(std::string text, std::shared_ptr<Unsent> unsent) {
  auto counted = std::make_unique<Counted>(std::move(text), std::move(unsent));
  auto& bytes = counted->text();
  zmq::message_t message(
      bytes.data(), bytes.size(), [](void*, void* hint) { delete static_cast<Counted*>(hint); },
      counted.get());
  static_cast<void>(counted.release());
  return message;
}

}  // namespace phsic
