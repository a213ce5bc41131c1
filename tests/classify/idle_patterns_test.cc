#include "classify/idle_patterns.h"

#include <asm/unistd_64.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

IdlePatterns Parsed(const std::string& text) {
  IdlePatterns patterns;
  const absl::Status status = AddIdlePatterns(text, "f", &patterns);
  EXPECT_TRUE(status.ok()) << status;
  return patterns;
}

// A line that is wrong leaves what there was.
std::string ErrorOf(const std::string& text) {
  IdlePatterns patterns = Parsed("[kept]\nsyscall = read\nstack = f\n");
  const absl::Status status = AddIdlePatterns(text, "f", &patterns);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(patterns, SizeIs(1)) << text;
  return std::string(status.message());
}

TEST(IdlePatterns, AllThatAPatternCanSay) {
  const IdlePatterns patterns = Parsed(
      "# a comment\n"
      "\n"
      "[server: its pool]\n"
      "process = server* | other\n"
      "  thread  =  pool-?  \n"
      "syscall = futex | epoll_wait\r\n"
      "cause   = futex | page fault\n"
      "stack   = Pool::Wait; [inlined | ns::(anonymous namespace)::other]; pthread_cond_wait\n"
      "stack   = loop; epoll_wait; ...\n"
      "[second]\n"
      "syscall = read\n"
      "stack = f");
  ASSERT_THAT(patterns, SizeIs(2));
  const IdlePattern& first = patterns[0];
  EXPECT_EQ(first.name, "server: its pool");
  EXPECT_THAT(first.processes, ElementsAre("server*", "other"));
  EXPECT_THAT(first.threads, ElementsAre("pool-?"));
  EXPECT_THAT(first.syscalls, ElementsAre(__NR_futex, __NR_epoll_wait));
  EXPECT_THAT(first.causes, ElementsAre(WaitCause::kFutex, WaitCause::kPageFault));
  ASSERT_THAT(first.stacks, SizeIs(2));
  const IdleStack& pool = first.stacks[0];
  EXPECT_FALSE(pool.own_callees);
  ASSERT_THAT(pool.frames, SizeIs(3));
  EXPECT_THAT(pool.frames[0].names, ElementsAre("pthread_cond_wait")) << "leaf first";
  EXPECT_FALSE(pool.frames[0].may_be_missing);
  EXPECT_FALSE(pool.frames[0].may_be_unnamed);
  EXPECT_THAT(pool.frames[1].names, ElementsAre("inlined", "ns::(anonymous namespace)::other"));
  EXPECT_TRUE(pool.frames[1].may_be_missing);
  EXPECT_TRUE(pool.frames[1].may_be_unnamed);
  EXPECT_THAT(pool.frames[2].names, ElementsAre("Pool::Wait"));
  EXPECT_TRUE(first.stacks[1].own_callees);
  EXPECT_THAT(first.stacks[1].frames, SizeIs(2));
  EXPECT_EQ(patterns[1].name, "second");
  EXPECT_THAT(patterns[1].processes, IsEmpty());
}

TEST(IdlePatterns, AnErrorSaysWhereAndWhat) {
  EXPECT_EQ(ErrorOf("stack = f\n"), "f:1: a pattern must begin with its name in brackets, such as [pool of a server]");
  EXPECT_EQ(ErrorOf("\n[a\n"), "f:2: the name of a pattern must stand alone in brackets");
  EXPECT_EQ(ErrorOf("[ ]\n"), "f:1: the name of a pattern must stand alone in brackets");
  EXPECT_EQ(ErrorOf("[a]\nsyscall = read\nstack = f\n[a]\n"), "f:4: 'a' is there twice");
  EXPECT_EQ(ErrorOf("[a]\nstack f\n"), "f:2: a line must be [NAME], KEY = VALUE or a comment that begins with #");
  EXPECT_EQ(ErrorOf("[a]\nstacks = f\n"),
            "f:2: unknown key 'stacks'; the keys are process, thread, syscall, cause, wait and stack");
  EXPECT_EQ(ErrorOf("[a]\nsyscall = read\nsyscall = write\n"), "f:3: syscall is there twice");
  EXPECT_EQ(ErrorOf("[a]\nsyscall = reed\n"), "f:2: no system call is called 'reed'");
  EXPECT_EQ(ErrorOf("[a]\ncause = locks\n"), "f:2: no cause is called 'locks'");
  EXPECT_EQ(ErrorOf("[a]\ncause = preempted\n"), "f:2: no cause is called 'preempted'") << "it waits for nothing";
  EXPECT_EQ(ErrorOf("[a]\nthread = a |\n"), "f:2: a name is empty");
  EXPECT_EQ(ErrorOf("[a]\nstack =\n"), "f:2: a name is empty");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; ; g\n"), "f:2: a name is empty");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; *; g\n"), "f:2: '*' stands for any function: name it");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; [g | ?*]\n"), "f:2: 'g | ?*' stands for any function: name it");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; g | <no name in *>\n"),
            "f:2: 'g | <no name in *>' stands for a function of any module: name it");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; [<no name in g>]\n"),
            "f:2: a function without a name proves nothing: add its name");
  EXPECT_EQ(ErrorOf("[a]\nstack = f | <no name in g>; h\n"),
            "f:2: a stack must begin with a function that is not optional and has a name");
  EXPECT_EQ(ErrorOf("[a]\nstack = ...\n"),
            "f:2: a stack must begin with a function that is not optional and has a name");
  EXPECT_EQ(ErrorOf("[a]\nstack = [f]; g\n"),
            "f:2: a stack must begin with a function that is not optional and has a name");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; [g]; ...\n"),
            "f:2: the function before ... must not be optional, and must have a name");
  EXPECT_EQ(ErrorOf("[a]\nsyscall = read\n\n[b]\n"), "f:1: a pattern needs a line 'stack = ...'");
  EXPECT_EQ(ErrorOf("\n[a]\nstack = f\n"),
            "f:2: a pattern needs a line 'syscall = ...', or lines 'wait = ...' and 'cause = ...'");
  EXPECT_EQ(ErrorOf("[a]\noff\nstack = f\n"), "f:1: a pattern that is off must have no other line");
}

TEST(IdlePatterns, FunctionsWithoutANameOfAModule) {
  const IdlePatterns patterns = Parsed("[a]\nsyscall = read\nstack = f; g | <no name in  a.* > | <no name in b>; h\n");
  ASSERT_THAT(patterns, SizeIs(1));
  const IdleFrame& frame = patterns[0].stacks[0].frames[1];
  EXPECT_THAT(frame.names, ElementsAre("g"));
  EXPECT_THAT(frame.unnamed_in, ElementsAre("a.*", "b"));
  EXPECT_FALSE(frame.may_be_missing);
  EXPECT_FALSE(frame.may_be_unnamed);
}

TEST(IdlePatterns, FunctionsWithoutANameThatMustBeThere) {
  const IdlePatterns patterns = Parsed("[a]\nsyscall = read\nstack = f; g | <no name> | h; <A as B>::f<C>\n");
  ASSERT_THAT(patterns, SizeIs(1));
  const std::vector<IdleFrame>& frames = patterns[0].stacks[0].frames;
  ASSERT_THAT(frames, SizeIs(3));
  EXPECT_THAT(frames[0].names, ElementsAre("<A as B>::f<C>"));
  EXPECT_FALSE(frames[0].may_be_unnamed);
  EXPECT_THAT(frames[1].names, ElementsAre("g", "h"));
  EXPECT_FALSE(frames[1].may_be_missing);
  EXPECT_TRUE(frames[1].may_be_unnamed);
  EXPECT_EQ(ErrorOf("[a]\nstack = f; <no name>\n"), "f:2: a function without a name proves nothing: add its name");
  EXPECT_EQ(ErrorOf("[a]\nstack = f | <no name>; g\n"),
            "f:2: a stack must begin with a function that is not optional and has a name");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; g | <no name>; ...\n"),
            "f:2: the function before ... must not be optional, and must have a name");
}

std::string Functions(const IdleStack& stack) {
  std::string text;
  for (const IdleFrame& frame : stack.frames) text += frame.names.front() + (frame.may_be_missing ? "? " : " ");
  return text + (stack.own_callees ? "..." : "");
}

TEST(IdlePatterns, EndsThatStacksShare) {
  const IdlePatterns patterns = Parsed(
      "[<lock>]\n"
      "stack = lock; [futex]\n"
      "stack = spin; ...\n"
      "[<pool>]\n"
      "stack = [pool]; <lock>\n"
      "[a]\n"
      "syscall = futex\n"
      "stack = f; <lock>\n"
      "stack = g\n"
      "stack = <lock>\n"
      "stack = h; <pool>\n");
  ASSERT_THAT(patterns, SizeIs(1)) << "ends are no patterns";
  std::vector<std::string> stacks;
  for (const IdleStack& stack : patterns[0].stacks) stacks.push_back(Functions(stack));
  EXPECT_THAT(stacks, ElementsAre("futex? lock f ", "spin f ...", "g ", "futex? lock ", "spin ...",
                                  "futex? lock pool? h ", "spin pool? h ..."))
      << "leaf first";
}

// Other files need not say again how glibc waits, and can say it otherwise.
TEST(IdlePatterns, EndsThatAreShippedAreThereForAll) {
  const std::string pattern = "[a]\nsyscall = futex\nstack = pool; <condition variable>\n";
  const IdlePatterns patterns = Parsed(pattern);
  ASSERT_THAT(patterns, SizeIs(1));
  ASSERT_THAT(patterns[0].stacks, SizeIs(2));
  EXPECT_EQ(Functions(patterns[0].stacks[0]), "__futex_abstimed_wait_common*? *pthread_cond_*wait pool ");
  const IdlePatterns own = Parsed("[<condition variable>]\nstack = cnd_wait\n" + pattern);
  ASSERT_THAT(own, SizeIs(1));
  ASSERT_THAT(own[0].stacks, SizeIs(1));
  EXPECT_EQ(Functions(own[0].stacks[0]), "cnd_wait pool ");
}

TEST(IdlePatterns, ErrorsOfEnds) {
  EXPECT_EQ(ErrorOf("[a]\nstack = f; <nothing>\n"), "f:2: no end of stacks above is called '<nothing>'");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; <b>\n[<b>]\nstack = g\n"), "f:2: no end of stacks above is called '<b>'");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = g\nstack = <b>\n"), "f:3: no end of stacks above is called '<b>'");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = g\n[a]\nstack = f; <b>; g\n"), "f:4: '<b>' must stand alone at the end of a stack");
  EXPECT_EQ(ErrorOf("[a]\nstack = f; [<b>]\n"), "f:2: '<b>' must stand alone at the end of a stack");
  EXPECT_EQ(ErrorOf("[<no name>]\nstack = f\n"),
            "f:1: '<no name>' cannot be the name of an end: it stands for functions without a name");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = g\n[a]\nstack = f; ...; <b>\n"), "f:4: ... can only be the end of a stack");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = [g]\n[a]\nstack = <b>\n"),
            "f:4: a stack must begin with a function that is not optional and has a name");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = [g]; ...\n[a]\nstack = f; <b>\n"),
            "f:4: the function before ... must not be optional, and must have a name");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = ...\n"), "f:2: an end of stacks needs a function");
  EXPECT_EQ(ErrorOf("[<b>]\nsyscall = read\n"), "f:2: an end of stacks can only have lines 'stack = ...'");
  EXPECT_EQ(ErrorOf("[<b>]\noff\n"), "f:1: an end of stacks can only have lines 'stack = ...'");
  EXPECT_EQ(ErrorOf("[<b>]\n"), "f:1: an end of stacks can only have lines 'stack = ...'");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = g\n[<b>]\n"), "f:3: '<b>' is there twice");
}

TEST(IdlePatterns, LaterOnesComeFirstAndTakeThePlaceOfTheirNamesakes) {
  IdlePatterns patterns = Parsed("[a]\nsyscall = read\nstack = f\n[b]\nsyscall = read\nstack = f\n");
  ASSERT_TRUE(AddIdlePatterns("[c]\nsyscall = read\nstack = g\n[b]\nsyscall = read\nstack = h\n", "f", &patterns).ok());
  ASSERT_THAT(patterns, SizeIs(3));
  EXPECT_EQ(patterns[0].name, "c");
  EXPECT_EQ(patterns[1].name, "b");
  EXPECT_THAT(patterns[1].stacks[0].frames[0].names, ElementsAre("h"));
  EXPECT_EQ(patterns[2].name, "a");
  ASSERT_TRUE(AddIdlePatterns("[a]\noff\n[never there]\noff\n", "f", &patterns).ok());
  ASSERT_THAT(patterns, SizeIs(2));
  EXPECT_EQ(patterns[1].name, "b");
}

std::string Repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(IdlePatterns, Limits) {
  const std::string head = "[a]\nsyscall = read\n";
  EXPECT_THAT(Parsed(head + "stack = f" + Repeated("; f", kMaxIdleFrames - 1))[0].stacks[0].frames,
              SizeIs(kMaxIdleFrames));
  EXPECT_EQ(ErrorOf(head + "stack = f" + Repeated("; f", kMaxIdleFrames)), "f:3: a stack has at most 32 functions");
  EXPECT_THAT(Parsed(head + "stack = f\nthread = f" + Repeated("|f", kMaxIdleNames - 1))[0].threads,
              SizeIs(kMaxIdleNames));
  EXPECT_EQ(ErrorOf(head + "thread = f" + Repeated("|f", kMaxIdleNames)), "f:3: there are more than 64 names");
  EXPECT_THAT(Parsed(head + Repeated("stack = f\n", kMaxIdleNames))[0].stacks, SizeIs(kMaxIdleNames));
  EXPECT_EQ(ErrorOf(head + Repeated("stack = f\n", kMaxIdleNames + 1)), "f:67: there are too many stacks");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = f" + Repeated("; f", kMaxIdleFrames)), "f:2: a stack has at most 32 functions");
  EXPECT_EQ(ErrorOf("[<b>]\nstack = f" + Repeated("; f", kMaxIdleFrames - 1) + "\n" + head + "stack = g; <b>"),
            "f:5: a stack has at most 32 functions");
  EXPECT_EQ(ErrorOf("[<b>]\n" + Repeated("stack = f\n", kMaxIdleNames) + head + "stack = f\nstack = g; <b>"),
            "f:69: there are too many stacks");
  // What an end is copied for counts too: with "g" 1 MiB in all, and one byte more.
  const std::string end = "[<b>]\nstack = " + std::string((kMaxIdleFileBytes >> 1) - 3, 'f') + "\n";
  EXPECT_THAT(Parsed(end + head + "stack = g; <b>\nstack = g; <b>")[0].stacks, SizeIs(2));
  EXPECT_EQ(ErrorOf(end + head + "stack = g; <b>\nstack = gg; <b>"),
            "f:6: the file, with the ends of its stacks, is larger than 1 MiB");
  std::string many;
  for (size_t i = 0; i < kMaxIdlePatterns; ++i) many += "[" + std::to_string(i) + "]\nsyscall = read\nstack = f\n";
  EXPECT_THAT(Parsed(many), SizeIs(kMaxIdlePatterns));
  EXPECT_EQ(ErrorOf(many), "f:1: together with the existing ones, there are more than 1000");
  EXPECT_EQ(ErrorOf(many + "[more]\n"), "f:3001: there are more than 1000 patterns");
  EXPECT_THAT(Parsed("#" + std::string(kMaxIdleFileBytes - 1, 'x')), IsEmpty());
  EXPECT_EQ(ErrorOf("#" + std::string(kMaxIdleFileBytes, 'x')), "f:1: the file is larger than 1 MiB");
}

TEST(IdlePatterns, Files) {
  const std::string path = testing::TempDir() + "/idle_patterns";
  std::ofstream(path) << "[a]\nsyscall = read\nstack = f\n";
  const std::string second = path + "2";
  std::ofstream(second) << "[b]\nsyscall = read\nstack = g\n";
  const size_t shipped = DefaultIdlePatterns().size();
  const absl::StatusOr<IdlePatterns> patterns = ReadIdlePatterns({path, second});
  ASSERT_TRUE(patterns.ok()) << patterns.status();
  ASSERT_THAT(*patterns, SizeIs(shipped + 2));
  EXPECT_EQ((*patterns)[0].name, "b");
  EXPECT_EQ((*patterns)[1].name, "a");
  EXPECT_EQ((*patterns)[2], DefaultIdlePatterns()[0]);
  const auto error = [&] { return std::string(ReadIdlePatterns({second, path}).status().message()); };
  std::ofstream(path) << "";
  EXPECT_EQ(error(), "");
  std::ofstream(path) << "[a]\nx\n";
  EXPECT_THAT(error(), testing::StartsWith(path + ":2: "));
  std::ofstream(path) << std::string(kMaxIdleFileBytes + 1, '\n');
  EXPECT_THAT(error(), testing::HasSubstr("larger than 1 MiB"));
  const absl::Status missing = ReadIdlePatterns({"/nonexistent"}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(missing.message()), "/nonexistent cannot be read: No such file or directory");
  EXPECT_EQ(std::string(ReadIdlePatterns({"/"}).status().message()), "/ is a directory: must be a regular file");
}

std::string TextOf(const std::string& file_name) {
  std::ifstream file(std::string(OFFCPU_SOURCE_DIR) + "/packaging/" + file_name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

size_t PatternsIn(const std::string& text) {
  std::stringstream lines(text);
  size_t names = 0;
  for (std::string line; std::getline(lines, line);) names += line.starts_with('[') && !line.starts_with("[<") ? 1 : 0;
  return names;
}

// What is compiled in are the files that are installed, and all of them is right.
TEST(IdlePatterns, Shipped) {
  const std::string for_work = TextOf("waiting-for-work.conf");
  const std::string causes = TextOf("causes.conf");
  EXPECT_EQ(for_work, kDefaultIdlePatterns);
  EXPECT_EQ(causes, kDefaultCausePatterns);
  const IdlePatterns all = DefaultIdlePatterns();
  EXPECT_THAT(all, SizeIs(PatternsIn(for_work) + PatternsIn(causes)));
  for (const IdlePattern& pattern : all) EXPECT_NE(pattern.name.find(": "), std::string::npos) << pattern.name;
  for (const IdlePattern& pattern : Parsed(for_work)) EXPECT_EQ(pattern.wait, "") << pattern.name;
  for (const IdlePattern& pattern : Parsed(causes)) EXPECT_NE(pattern.wait, "") << pattern.name;
}

TEST(IdlePatterns, ThatNameWaits) {
  const IdlePatterns patterns = Parsed(
      "[a]\nwait = mutex of the cache\ncause = lock\nstack = f\n"
      "[b]\nwait = queue\ncause = futex | poll\nsyscall = futex\nstack = f\n");
  ASSERT_THAT(patterns, SizeIs(2));
  EXPECT_EQ(patterns[0].wait, "mutex of the cache");
  EXPECT_THAT(patterns[0].syscalls, SizeIs(0)) << "any";
  EXPECT_THAT(patterns[0].causes, ElementsAre(WaitCause::kFutex, WaitCause::kMutex, WaitCause::kFileLock,
                                              WaitCause::kSemaphore, WaitCause::kKernelLock))
      << "a family is all of its causes";
  EXPECT_THAT(patterns[1].causes, ElementsAre(WaitCause::kFutex, WaitCause::kPoll));
}

TEST(IdlePatterns, ErrorsOfNamesOfWaits) {
  const auto error = [](const std::string& text) {
    IdlePatterns patterns;
    return std::string(AddIdlePatterns(text, "f", &patterns).message());
  };
  constexpr char kNoCall[] = "f:1: a pattern needs a line 'syscall = ...', or lines 'wait = ...' and 'cause = ...'";
  EXPECT_EQ(error("[a]\nwait = mutex\nstack = f\n"), kNoCall);
  EXPECT_EQ(error("[a]\ncause = futex\nstack = f\n"), kNoCall) << "a wait for work has its call";
  EXPECT_EQ(error("[a]\nwait = a | b\n"), "f:2: a wait can only have one name");
  EXPECT_EQ(error("[a]\nwait =\n"), "f:2: a name is empty");
  const std::string longest(kMaxWaitBytes, 'w');
  EXPECT_EQ(error("[a]\nwait = " + longest + "\ncause = futex\nstack = f\n"), "");
  EXPECT_EQ(error("[a]\nwait = " + longest + "w\n"), "f:2: the name of a wait can have at most 64 bytes");
}

}  // namespace
}  // namespace offcpu
