#include "offcpu/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "bytes/write_file.h"
#include "offcpu/exit_code.h"
#include "tables/columns.h"

namespace offcpu {
namespace {

// The other screen of the terminal, lines cut at its edge, no cursor.
constexpr std::string_view kEnter = "\033[?1049h\033[?7l\033[?25l\033[H\033[2J";
constexpr std::string_view kLeave = "\033[?25h\033[?7h\033[?1049l";
constexpr std::array kEndSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kWaitSignals = {SIGTSTP, SIGWINCH};
constexpr int kKeyMs = 50;  // between the bytes of one key, also from far away

// For the signal handlers. Those that change it run in the main thread only.
struct {
  volatile sig_atomic_t is_entered = 0;
  bool has_settings = false;
  termios before;  // of the standard input
  termios ours;
  volatile sig_atomic_t redraw = 0;
} state;

// If the terminal has gone, nobody would read an error.
void Write(std::string_view bytes) { WriteAll(STDOUT_FILENO, bytes); }

void TakeOver() {
  state.is_entered = 1;  // from here on there is something to give back
  if (state.has_settings) tcsetattr(STDIN_FILENO, TCSANOW, &state.ours);
  Write(kEnter);
}

void GiveBack() {
  if (state.is_entered == 0) return;
  state.is_entered = 0;
  Write(kLeave);
  if (state.has_settings) tcsetattr(STDIN_FILENO, TCSANOW, &state.before);
}

// The main thread may be writing to the screen: it is to be stopped, not to be raced with.
void OnEnd(int signal) {
  if (gettid() != getpid()) {
    tgkill(getpid(), getpid(), signal);
    return;
  }
  GiveBack();
  _exit(kExitOk);
}

// Stopped by the user's key: the shell is to have its terminal.
void OnStop(int) {
  const int error = errno;
  GiveBack();
  raise(SIGSTOP);
  TakeOver();
  state.redraw = 1;
  errno = error;
}

void OnResize(int) { state.redraw = 1; }

template <typename Signals>
sigset_t SetOf(const Signals& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool IsUtf8() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool is_utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
  freelocale(locale);
  return is_utf8;
}

const char* CodeOf(Style style, bool has_colors) {
  switch (style) {
    case Style::kTitle:
      return "\033[1m";
    case Style::kQuiet:
      return "\033[2m";
    case Style::kBlocked:
      return has_colors ? "\033[34m" : "";
    case Style::kRunnable:
      return has_colors ? "\033[31m" : "";
    case Style::kPlain:
    case Style::kPicture:
      break;
  }
  return "";
}

// Each part begins where it is to: the terminal may take a name before it for wider than we do. The old line goes
// first: behind a line as wide as the terminal, the cursor stands on its last character.
void Append(const StyledLine& line, bool has_colors, std::string* bytes) {
  *bytes += "\033[K";
  size_t column = 1;
  for (const StyledPart& part : line.parts) {
    if (part.text.empty()) continue;
    if (column > 1) absl::StrAppend(bytes, "\033[", column, "G");
    const bool is_reversed = line.is_selected && part.style == Style::kPlain;
    const std::string code = absl::StrCat(is_reversed ? "\033[7m" : "", CodeOf(part.style, has_colors));
    absl::StrAppend(bytes, code, part.text, code.empty() ? "" : "\033[m");
    column += ColumnsOf(part.text);
  }
}

// Whether a sequence that a key is sent as has come in part only.
bool IsCut(std::string_view typed) {
  const size_t begin = typed.rfind('\033');
  if (begin == std::string_view::npos) return false;
  const std::string_view sequence = typed.substr(begin);
  if (sequence.size() == 1) return true;
  if (sequence[1] != '[' && sequence[1] != 'O') return false;
  return std::none_of(sequence.begin() + 2, sequence.end(), [](char c) { return c >= 0x40 && c < 0x7f; });
}

}  // namespace

bool Screen::IsPossible() {
  const char* kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb" && *kind != '\0';
}

Screen::Screen() {
  const sigset_t wait_signals = SetOf(kWaitSignals);
  sigprocmask(SIG_BLOCK, &wait_signals, nullptr);
  for (const int signal : kEndSignals) Handle(signal, OnEnd);
}

Screen::~Screen() { Leave(); }

void Screen::Enter() {
  has_blocks_ = IsUtf8();
  const char* no_color = std::getenv("NO_COLOR");
  has_colors_ = no_color == nullptr || *no_color == '\0';
  has_keys_ = tcgetattr(STDIN_FILENO, &state.before) == 0;
  state.has_settings = has_keys_;
  state.ours = state.before;
  state.ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  state.ours.c_cc[VMIN] = 1;
  state.ours.c_cc[VTIME] = 0;
  TakeOver();
  Handle(SIGTSTP, OnStop);
  Handle(SIGWINCH, OnResize);
}

void Screen::Leave() {
  const sigset_t end_signals = SetOf(kEndSignals);
  sigprocmask(SIG_BLOCK, &end_signals, nullptr);
  GiveBack();
  for (const int signal : kEndSignals) Handle(signal, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &end_signals, nullptr);
}

Screen::Size Screen::size() const {
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {.columns = window.ws_col, .lines = window.ws_row};
}

void Screen::Show(const std::vector<StyledLine>& lines) {
  std::string bytes = "\033[H";
  for (const StyledLine& line : lines) {
    if (&line != &lines.front()) bytes += "\r\n";
    Append(line, has_colors_, &bytes);
  }
  bytes += "\033[J";
  Write(bytes);
}

// An escape may be a key, or begin one whose rest is on its way: a moment tells.
bool Screen::ReadKeys() {
  typed_.clear();
  do {
    std::array<char, 256> keys;
    const ssize_t got = read(STDIN_FILENO, keys.data(), keys.size());
    if (got <= 0 && !(got < 0 && errno == EINTR)) has_keys_ = false;
    typed_.append(keys.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    pollfd more = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (!has_keys_ || !IsCut(typed_) || typed_.size() > keys.size() || poll(&more, 1, kKeyMs) != 1) break;
  } while (true);
  return !typed_.empty();
}

Screen::Event Screen::Wait(std::chrono::steady_clock::time_point until) {
  sigset_t waiting;
  sigprocmask(SIG_BLOCK, nullptr, &waiting);
  for (const int signal : kWaitSignals) sigdelset(&waiting, signal);
  while (true) {
    const auto left = std::max(until - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec timeout = {.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
    pollfd keys = {.fd = has_keys_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
    const int ready = ppoll(&keys, 1, &timeout, &waiting);
    if (state.redraw != 0) {
      state.redraw = 0;
      return Event::kRedraw;
    }
    if (ready > 0 && ReadKeys()) return Event::kTyped;
    if (ready == 0) return Event::kTimeUp;
  }
}

}  // namespace offcpu
