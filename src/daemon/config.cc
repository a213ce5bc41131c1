#include "daemon/config.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/duration.h"
#include "bytes/nearest_word.h"
#include "bytes/percent.h"
#include "daemon/config_checks.h"
#include "recorder/record_config.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr char kAuto[] = "auto";
constexpr uint64_t kForever = 1'000'000 * kSecond;

struct Unit {
  const char* name;
  uint64_t amount;
};
constexpr std::array<Unit, 6> kTimes = {
    {{"h", 3600 * kSecond}, {"m", 60 * kSecond}, {"s", kSecond}, {"ms", 1'000'000}, {"us", 1000}, {"ns", 1}}};
constexpr std::array<Unit, 4> kSizes = {{{"GiB", 1u << 30}, {"MiB", 1u << 20}, {"KiB", 1u << 10}, {"B", 1}}};

struct Range {
  uint64_t least;
  uint64_t most;

  bool Holds(uint64_t value) const { return value >= least && value <= most; }
};

using Check = absl::Status (*)(const std::string& value);

// In the largest unit that it is a whole number of.
template <size_t N>
std::string InUnits(uint64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.amount == 0) return absl::StrCat(value / unit.amount, unit.name);
  }
  return "0";
}

absl::StatusOr<uint64_t> ParseSize(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  uint64_t number = 0;
  if (digits != std::string::npos && absl::SimpleAtoi(text.substr(0, digits), &number)) {
    for (const Unit& unit : kSizes) {
      if (text.substr(digits) == unit.name && number <= UINT64_MAX / unit.amount) return number * unit.amount;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a size: write a whole number with B, KiB, MiB or GiB"));
}

// Every key there is. `visit` reads them from a file, or writes one.
template <typename Visitor, typename Config>
void VisitKeys(Visitor& visit, Config& config) {
  visit.Section("record");
  visit.TimeOrAuto("sample", config.record.sample_ns, {0, kSecond});
  visit.Percent("cpu_budget", config.record.cpu_budget_ppm);
  visit.Number("max_frames", config.record.max_frames, {kLeastMaxFrames, kMostMaxFrames});
  visit.Time("min_wait", config.record.min_wait_ns, {0, kForever});
  visit.Time("max_wait", config.record.max_wait_ns, {0, kForever});
  visit.Bool("kernel_threads", config.record.kernel_threads);
  visit.Bool("idle", config.record.idle);
  visit.Number("oncpu", config.record.oncpu_hz, {0, 1000});
  visit.Bool("wakers", config.record.wakers);
  visit.Texts("comms", config.record.comms, CheckGlob);
  visit.Pids("pids", config.record.pids);
  visit.Texts("cgroups", config.record.cgroups, CheckNotEmpty);
  visit.Texts("containers", config.record.containers, CheckNotEmpty);
  visit.Texts("users", config.record.users, CheckNotEmpty);
  visit.Texts("exclude_comms", config.record.exclude_comms, CheckGlob);
  visit.Pids("exclude_pids", config.record.exclude_pids);
  visit.Texts("exclude_cgroups", config.record.exclude_cgroups, CheckNotEmpty);
  visit.Texts("exclude_containers", config.record.exclude_containers, CheckNotEmpty);
  visit.Section("idle");
  visit.Texts("patterns", config.idle_patterns, CheckFile);
  visit.Section("windows");
  visit.Time("length", config.windows.length_ns, {kSecond, 3600 * kSecond});
  visit.Number("keep", config.windows.keep, {1, 10'000});
  visit.Section("limits");
  visit.Size("memory", config.memory_bytes, {128u << 20, uint64_t{64} << 30});
  visit.Section("control");
  visit.Text("socket", config.control.socket, CheckSocket);
  visit.Text("group", config.control.group, nullptr);
  visit.Number("max_clients", config.control.max_clients, {1, 1000});
  visit.Time("timeout", config.control.timeout_ns, {kSecond / 10, 600 * kSecond});
  visit.Section("http");
  visit.Text("listen", config.http.listen, CheckListen);
  visit.Text("certificate", config.http.certificate_file, CheckFileOrNone);
  visit.Text("key", config.http.key_file, CheckFileOrNone);
  visit.Text("client_ca", config.http.client_ca_file, CheckFileOrNone);
  visit.Text("bearer_token_file", config.http.bearer_token_file, CheckFileOrNone);
  visit.Section("export");
  visit.Text("endpoint", config.exporting.endpoint, nullptr);
  visit.Text("profiles_endpoint", config.exporting.profiles_endpoint, nullptr);
  visit.Texts("headers", config.exporting.headers, nullptr);
  visit.Text("bearer_token_file", config.exporting.bearer_token_file, nullptr);
  visit.Text("ca_file", config.exporting.ca_file, nullptr);
  visit.Text("client_certificate", config.exporting.certificate_file, nullptr);
  visit.Text("client_key", config.exporting.key_file, nullptr);
  visit.Text("proxy", config.exporting.proxy, nullptr);
  visit.Text("compression", config.exporting.compression, CheckCompression);
  visit.Time("timeout", config.exporting.timeout_ns, {0, 600 * kSecond});
  visit.Bool("names", config.exporting.names);
  visit.Text("service_name", config.exporting.service_name, nullptr);
  visit.Texts("resource", config.exporting.resource, CheckPair);
  visit.Texts("types", config.exporting.types, nullptr);
  visit.Texts("labels", config.exporting.labels, nullptr);
  visit.Text("spool", config.exporting.spool, CheckDirectory);
  visit.Size("spool_size", config.exporting.spool_bytes, {1u << 20, uint64_t{1} << 40});
  visit.Time("spool_age", config.exporting.spool_age_ns, {60 * kSecond, uint64_t{366} * 24 * 3600 * kSecond});
  visit.Section("files");
  visit.Text("directory", config.files.directory, CheckDirectory);
  visit.Number("keep", config.files.keep, {1, 100'000});
  visit.Size("size", config.files.bytes, {1u << 20, uint64_t{1} << 40});
  visit.Section("log");
  visit.Text("level", config.log_level, CheckLevel);
}

// What is wrong with the keys of [http] together; empty: nothing.
std::string WrongWith(const DaemonConfig::Http& http) {
  if (http.certificate_file.empty() != http.key_file.empty()) return "certificate and key must be set together";
  if (http.certificate_file.empty() && !http.client_ca_file.empty()) return "client_ca needs certificate and key";
  const bool asks_who = !http.client_ca_file.empty() || !http.bearer_token_file.empty();
  if (http.listen.empty() || IsLoopback(http.listen) || (!http.certificate_file.empty() && asks_who)) return "";
  return absl::StrCat("anyone who can connect sees every process: listen on 127.0.0.1, [::1] or localhost instead of ",
                      http.listen.substr(0, http.listen.rfind(':')),
                      ", or set certificate and key, and bearer_token_file or client_ca");
}

// Takes the first mistake that it comes to; with one, the rest of the file does not matter.
class Reader {
 public:
  Reader(const toml::table& file, std::string name) : file_(file), name_(std::move(name)) {}

  void Section(const char* section) {
    known_.insert(section);
    section_ = section;
    table_ = nullptr;
    const toml::node* node = file_.get(section);
    if (node == nullptr) return;
    table_ = node->as_table();
    if (table_ == nullptr) Fail(node->source(), absl::StrCat("'", section, "' must be a table: write [", section, "]"));
  }

  void Time(const char* key, uint64_t& value, Range range) {
    const toml::node* node = Find(key);
    if (node != nullptr) Scaled(*node, key, "a length of time, such as \"60s\"", range, kTimes, ParseTime, value);
  }
  void TimeOrAuto(const char* key, std::optional<uint64_t>& value, Range range) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    value.reset();
    if (node->value_exact<std::string>() == kAuto) return;
    Scaled(*node, key, "a length of time, such as \"60s\", or \"auto\"", range, kTimes, ParseTime, value.emplace());
  }
  void Size(const char* key, uint64_t& value, Range range) {
    const toml::node* node = Find(key);
    if (node != nullptr) Scaled(*node, key, "a size, such as \"256MiB\"", range, kSizes, ParseSize, value);
  }
  void Number(const char* key, uint64_t& value, Range range) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    const std::optional<int64_t> number = node->value_exact<int64_t>();
    if (!number.has_value()) return WrongType(*node, key, "a whole number");
    if (*number < 0 || !range.Holds(static_cast<uint64_t>(*number)))
      return Fail(node->source(), absl::StrCat(key, " must be from ", range.least, " to ", range.most));
    value = static_cast<uint64_t>(*number);
  }
  void Bool(const char* key, bool& value) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    const std::optional<bool> boolean = node->value_exact<bool>();
    boolean.has_value() ? void(value = *boolean) : WrongType(*node, key, "true or false");
  }
  void Text(const char* key, std::string& value, Check check) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    std::optional<std::string> text = Checked(*node, key, check);
    if (text.has_value()) value = *std::move(text);
  }
  void Percent(const char* key, uint64_t& ppm) {
    std::string text;
    Text(key, text, [](const std::string& value) { return ParsePercent(value).status(); });
    if (const absl::StatusOr<uint64_t> part = ParsePercent(text); part.ok()) ppm = *part;
  }
  void Texts(const char* key, std::vector<std::string>& values, Check check) {
    Each(key, "a list of strings, such as [\"a\", \"b\"]", values,
         [&](const toml::node& node) { return Checked(node, key, check); });
  }
  void Pids(const char* key, std::vector<int64_t>& values) {
    Each(key, "a list of numbers, such as [1, 2]", values, [&](const toml::node& node) {
      const std::optional<int64_t> pid = node.value_exact<int64_t>();
      if (!pid.has_value() || *pid <= 0 || *pid > INT32_MAX)
        Fail(node.source(), absl::StrCat(key, " must be process ids"));
      return pid;
    });
  }

  std::string NotKnown(const std::string& name) const {
    const std::vector<std::string> words(known_.begin(), known_.end());
    return absl::StrCat("unknown key '", name, "'", DidYouMean(name, words));
  }

  // What is wrong with the file, after all keys have been visited.
  absl::Status status() {
    for (const auto& [name, node] : file_) {
      const std::string section(name.str());
      if (!known_.contains(section)) Fail(name.source(), NotKnown(section));
      if (!node.is_table()) continue;
      for (const auto& [key, value] : *node.as_table()) {
        const std::string path = absl::StrCat(section, ".", std::string(key.str()));
        if (!known_.contains(path)) Fail(key.source(), NotKnown(path));
      }
    }
    return status_;
  }

  void Fail(const toml::source_region& where, const std::string& what) {
    if (!status_.ok()) return;
    status_ =
        absl::InvalidArgumentError(absl::StrCat(name_, ":", where.begin.line, ":", where.begin.column, ": ", what));
  }

 private:
  static absl::StatusOr<uint64_t> ParseTime(const std::string& text) { return ParseDuration(text); }

  const toml::node* Find(const char* key) {
    known_.insert(absl::StrCat(section_, ".", key));
    return table_ != nullptr ? table_->get(key) : nullptr;
  }

  void WrongType(const toml::node& node, const char* key, const char* expected) {
    Fail(node.source(), absl::StrCat(key, " must be ", expected));
  }

  std::optional<std::string> Checked(const toml::node& node, const char* key, Check check) {
    std::optional<std::string> text = node.value_exact<std::string>();
    if (!text.has_value()) {
      WrongType(node, key, "a string, such as \"a\"");
      return std::nullopt;
    }
    const absl::Status status = check != nullptr ? check(*text) : absl::OkStatus();
    if (!status.ok()) Fail(node.source(), absl::StrCat(key, ": ", std::string(status.message())));
    return text;
  }

  template <typename T, typename ReadOne>
  void Each(const char* key, const char* expected, std::vector<T>& values, ReadOne read) {
    const toml::node* node = Find(key);
    if (node == nullptr) return;
    if (!node->is_array()) return WrongType(*node, key, expected);
    values.clear();
    for (const toml::node& element : *node->as_array()) {
      std::optional<T> value = read(element);
      if (value.has_value()) values.push_back(*std::move(value));
    }
  }

  template <size_t N>
  void Scaled(const toml::node& node, const char* key, const char* expected, Range range,
              const std::array<Unit, N>& units, absl::StatusOr<uint64_t> (*parse)(const std::string&),
              uint64_t& value) {
    const std::optional<std::string> text = node.value_exact<std::string>();
    if (!text.has_value()) return WrongType(node, key, expected);
    const absl::StatusOr<uint64_t> amount = parse(*text);
    if (!amount.ok()) return Fail(node.source(), absl::StrCat(key, ": ", std::string(amount.status().message())));
    if (!range.Holds(*amount)) {
      return Fail(node.source(),
                  absl::StrCat(key, " must be from ", InUnits(range.least, units), " to ", InUnits(range.most, units)));
    }
    value = *amount;
  }

  const toml::table& file_;
  const std::string name_;
  const char* section_ = "";
  const toml::table* table_ = nullptr;
  std::set<std::string> known_;  // "section" and "section.key"
  absl::Status status_;
};

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(byte, absl::kZeroPad4));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

class Writer {
 public:
  void Section(const char* section) { absl::StrAppend(&text_, text_.empty() ? "" : "\n", "[", section, "]\n"); }
  void Time(const char* key, uint64_t value, Range) { Line(key, Quoted(InUnits(value, kTimes))); }
  void TimeOrAuto(const char* key, std::optional<uint64_t> value, Range) {
    Line(key, Quoted(value.has_value() ? InUnits(*value, kTimes) : kAuto));
  }
  void Size(const char* key, uint64_t value, Range) { Line(key, Quoted(InUnits(value, kSizes))); }
  void Percent(const char* key, uint64_t ppm) { Line(key, Quoted(PercentText(ppm))); }
  void Number(const char* key, uint64_t value, Range) { Line(key, absl::StrCat(value)); }
  void Bool(const char* key, bool value) { Line(key, value ? "true" : "false"); }
  void Text(const char* key, const std::string& value, Check) { Line(key, Quoted(value)); }
  void Texts(const char* key, const std::vector<std::string>& values, Check) {
    const auto quote = [](std::string* out, const std::string& value) { out->append(Quoted(value)); };
    Line(key, absl::StrCat("[", absl::StrJoin(values, ", ", quote), "]"));
  }
  void Pids(const char* key, const std::vector<int64_t>& values) {
    Line(key, absl::StrCat("[", absl::StrJoin(values, ", "), "]"));
  }
  const std::string& text() const { return text_; }

 private:
  void Line(const char* key, const std::string& value) { absl::StrAppend(&text_, key, " = ", value, "\n"); }

  std::string text_;
};

// An error of several keys together: where the last file says something of it.
absl::Status FailAtLast(std::span<const ConfigText> files, const std::vector<toml::table>& tables,
                        std::string_view path, const std::string& what) {
  for (size_t i = tables.size(); i-- > 0;) {
    const auto node = tables[i].at_path(path);
    if (!node) continue;
    const toml::source_position where = node.node()->source().begin;
    return absl::InvalidArgumentError(absl::StrCat(files[i].name, ":", where.line, ":", where.column, ": ", what));
  }
  return absl::InvalidArgumentError(what);
}

}  // namespace

absl::StatusOr<DaemonConfig> ParseConfig(std::span<const ConfigText> files) {
  DaemonConfig config;
  std::vector<toml::table> tables;
  for (const ConfigText& file : files) {
    toml::parse_result parsed = toml::parse(file.text, file.name);
    if (!parsed) {
      const toml::source_position where = parsed.error().source().begin;
      return absl::InvalidArgumentError(
          absl::StrCat(file.name, ":", where.line, ":", where.column, ": ", std::string(parsed.error().description())));
    }
    tables.push_back(std::move(parsed).table());
    Reader reader(tables.back(), file.name);
    VisitKeys(reader, config);
    if (absl::Status status = reader.status(); !status.ok()) return status;
  }
  if (config.record.max_wait_ns != 0 && config.record.max_wait_ns < config.record.min_wait_ns)
    return FailAtLast(files, tables, "record.max_wait", "max_wait is shorter than min_wait");
  if (const std::string wrong = WrongWith(config.http); !wrong.empty()) return FailAtLast(files, tables, "http", wrong);
  return config;
}

std::string FormatConfig(const DaemonConfig& config) {
  Writer writer;
  VisitKeys(writer, config);
  return writer.text();
}

}  // namespace offcpu
