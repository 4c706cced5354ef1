#include <fmt/format.h>

#include <iterator>

#include "daemon/config_options.h"

namespace phsic {
namespace {

constexpr std::string_view kIntroduction = R"(# Configuration

`phsicd` reads one YAML file. Without one it uses [config/phsicd.yaml](../config/phsicd.yaml), which has
every key with its default. [config/chat.yaml](../config/chat.yaml) watches a live chat,
[config/bitext.yaml](../config/bitext.yaml) filters parallel texts.

```yaml
service: [tcp://127.0.0.1:7470, ipc:///run/phsicd/service]
defaults:
  encoder: {name: hashing, dim: 4096}   # or: hashing:dim=4096
  p: 0.01
streams:
  chat:
    half-life: 7d
  de-en:
    estimator: gaussian-pmi
    ingest: tcp://127.0.0.1:7481
```

A key that is not known, that is there twice or whose value makes no sense is an error. All errors are told
at once, each with its line, and the daemon does not start. Aliases (`*name`) and tags (`!!str`) are refused.

`--set PATH=VALUE` sets a key on top of the file: `--set log-level=debug`,
`--set streams.chat.half-life=2h`, `--set defaults.encoder=hashing:dim=64`. Lists are separated by commas,
and nothing is the empty list: `--set ingest=`.

## The daemon

)";

constexpr std::string_view kEndpoints = R"(
An endpoint is `tcp://ADDRESS:PORT`, `ipc://PATH` or `inproc://NAME`; the port `*` is any free one. Several
are a list. ZeroMQ binds to addresses and interfaces (`127.0.0.1`, `[::1]`, `eth0`), not to host names. No
endpoint may be there twice. Others than loopback are refused unless `exposed: true`: there is no password,
so anyone who reaches the port can read and teach. Subscriptions connect and may go anywhere:

```yaml
subscribe:
  - {endpoint: tcp://chat.example.org:5556, topic: room/, stream: chat}
streams:
  chat:
```

A size is a number of bytes, `64KiB`, `4MiB` or `1GiB`. A time is `30s`, `15m`, `2h` or `7d`.

## A stream

A stream's name has 1 to 64 letters (a-z, A-Z), digits, `-`, `_` and `.`, and does not begin with a dot.
These say what it is; they are also options of the [command](command.md):

)";

constexpr std::string_view kDeciding = R"(
An encoder is written in one line, `hashing:dim=2048`, or as a mapping, `{name: hashing, dim: 2048}`. There
may be a half-life or a window, not both. An item of `views` is an encoder in one line, or a mapping with options of
the view, where the encoder is one of them: `{encoder: {name: wordvec, file: words.vec}, ridge: 0.3}`; see
[command.md](command.md#views).

These say what is decided about its pairs, see [filtering.md](filtering.md):

)";

constexpr std::string_view kAfterDeciding = R"(
There is one cut: `keep`, `p`, `fdr`, `percentile`, `score` or `quality`. `rules` may be a list: `rules: [no_empty,
length_ratio]`. A pair that breaks a rule is dropped and not learned. Vectors have no texts, and break none.
With `estimator: pmi` there are no duplicates, and the cut is a `score`, or none.

These say how it is served:

)";

constexpr std::string_view kAfterServing = R"(
What is in `defaults` holds for every stream that does not say otherwise. A stream's `encoder` replaces an
`x-encoder` of the defaults, too, its `kernel` an `x-kernel`, its `window` a `half-life`, and its cut theirs.

## Reload

At SIGHUP the daemon reads its file again. Streams may be added, and what is marked with \* in the tables may
change. Any other change is refused and logged with its path, as is a file with errors: the old configuration
stays in use, all of it. A stream cannot be removed from a running daemon.
)";

// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

class Table {
 public:
  explicit Table(std::string& text) : text_(text) {
    text_ += "| Key | Value | Default | |\n|---|---|---|---|\n";
  }

  void add(std::string_view name, bool reloads, std::string_view value, std::string_view fallback,
           std::string_view about) {
    const bool in_words = fallback.starts_with("as ");  // "as encoder"
    const auto standard =
        fallback.empty() || in_words ? cell(fallback) : fmt::format("`{}`", cell(fallback));
    fmt::format_to(std::back_inserter(text_), "| `{}`{} | {} | {} | {} |\n", name,
                   reloads ? " \\*" : "", cell(value), standard, cell(about));
  }

 private:
  std::string& text_;
};

}  // namespace

std::string config_reference() {
  std::string text(kIntroduction);
  Table daemon(text);
  for (const auto& option : daemon_options()) {
    daemon.add(option.name, option.reloads, option.value, option.fallback, option.about);
  }
  text += kEndpoints;
  Table stream(text);
  for (const auto& option : stream_options()) {
    stream.add(option.name, stream_option_reloads(option.name), option.value, option.fallback,
               option.about);
  }
  text += kDeciding;
  Table decide(text);
  for (const auto& option : decide_options()) {
    if (!option.is_served) continue;
    decide.add(option.name, option.reloads, option.value, option.fallback, option.about);
  }
  text += kAfterDeciding;
  Table serving(text);
  for (const auto& option : serving_options()) {
    serving.add(option.name, option.reloads, option.value, option.fallback, option.about);
  }
  text += kAfterServing;
  return text;
}

}  // namespace phsic
