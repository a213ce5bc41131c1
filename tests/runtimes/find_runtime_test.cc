// A process that has mapped what calls itself libjvm.so, or Python.
#include "runtimes/find_runtime.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "process/module.h"
#include "tests/runtimes/fake_python.h"
#include "tests/runtimes/fake_vm.h"
#include "tests/runtimes/symbol_file.h"

namespace offcpu {
namespace {

constexpr uint64_t kBias = 0x4000;

class FindRuntimeTest : public ::testing::Test {
 protected:
  // A file that exports what the virtual machine does.
  std::vector<std::byte> Library() const {
    SymbolFile file;
    for (const auto& [name, address] : vm_.symbols()) file.Add("gHotSpotVM" + name, address - kBias);
    return file.Bytes();
  }
  FoundRuntime Find(const std::vector<std::byte>& library, const std::string& path = "/usr/lib/jvm/lib/libjvm.so") {
    return Find(library, path, vm_.memory());
  }
  static FoundRuntime Find(const std::vector<std::byte>& library, const std::string& path, const Memory& memory) {
    auto module = std::make_shared<Module>();
    module->path = path;
    module->file = OwnedFd(memfd_create("find_runtime_test", MFD_CLOEXEC));
    EXPECT_EQ(write(module->file.get(), library.data(), library.size()), static_cast<ssize_t>(library.size()));
    MappedCode code = {.begin = 0x400000, .end = 0x401000, .module = std::move(module)};
    code.bias = kBias;
    return FindRuntime(AddressSpace({code}), memory, {});
  }

  FakeVm vm_{25};
};

TEST_F(FindRuntimeTest, VirtualMachineIsServed) {
  const FoundRuntime found = Find(Library());
  EXPECT_EQ(found.form, RuntimeForm::kServed);
  ASSERT_NE(found.runtime, nullptr);
  EXPECT_EQ(found.runtime->bounds(), (CodeRange{.begin = FakeVm::kCodeLow, .end = FakeVm::kCodeHigh}));
}

TEST_F(FindRuntimeTest, OtherLibrariesAreNone) {
  const FoundRuntime found = Find(Library(), "/usr/lib/libjvm.so.1");
  EXPECT_EQ(found.form, RuntimeForm::kNone);
  EXPECT_EQ(found.runtime, nullptr);
}

TEST_F(FindRuntimeTest, OneWithoutCodeIsNotServedYet) {
  vm_.Put(vm_.call_stub_return(), uint64_t{0});
  EXPECT_EQ(Find(Library()).form, RuntimeForm::kNotYet);
}

// It is mapped, and its tables are not where they say yet.
TEST_F(FindRuntimeTest, OneThatIsNotRelocatedIsNotServedYet) {
  vm_.Put(vm_.symbols().find("Structs")->second, uint64_t{0x100});
  EXPECT_EQ(Find(Library()).form, RuntimeForm::kNotYet);
}

TEST_F(FindRuntimeTest, OneThatLeavesOutWhatIsNeededIsUnknown) {
  vm_.Rename("ConstantPool::_pool_holder", "_owner");
  EXPECT_EQ(Find(Library()).form, RuntimeForm::kUnknown);
}

TEST_F(FindRuntimeTest, OneWithoutTablesIsUnknown) {
  EXPECT_EQ(Find(SymbolFile().Bytes()).form, RuntimeForm::kUnknown);
  EXPECT_EQ(Find(std::vector<std::byte>(100)).form, RuntimeForm::kUnknown);
}

class FindPythonTest : public FindRuntimeTest {
 protected:
  // A file that exports what the interpreter does, but for `left_out`.
  std::vector<std::byte> Program(std::string_view left_out = "") {
    SymbolFile file;
    file.Add("_PyRuntime_Initialize", 0x100);
    for (const auto& [name, address] : python_.symbols()) {
      if (name != left_out) file.Add(name, address - kBias);
    }
    return file.Bytes();
  }
  FoundRuntime FindPython(const std::vector<std::byte>& program, const std::string& path = "/usr/bin/python3.13") {
    return Find(program, path, python_.memory());
  }

  FakePython python_{13};
};

TEST_F(FindPythonTest, AnInterpreterIsServed) {
  for (const char* path : {"/usr/bin/python3.13", "/usr/lib/libpython3.13.so.1.0", "/opt/python"}) {
    const FoundRuntime found = FindPython(Program(), path);
    EXPECT_EQ(found.form, RuntimeForm::kServed) << path;
    EXPECT_NE(found.runtime, nullptr) << path;
  }
}

TEST_F(FindPythonTest, OtherFilesAreNone) {
  EXPECT_EQ(FindPython(Program(), "/usr/lib/python3/app.so").form, RuntimeForm::kNone);
  EXPECT_EQ(FindPython(Program("_PyRuntime")).form, RuntimeForm::kNone) << "a program that has it in a library";
  EXPECT_EQ(FindPython(std::vector<std::byte>(100)).form, RuntimeForm::kNone);
}

TEST_F(FindPythonTest, AnotherVersionIsUnknownByItsName) {
  python_.Put(python_.version(), uint64_t{0x030a0df0});
  const FoundRuntime found = FindPython(Program());
  EXPECT_EQ(found.form, RuntimeForm::kUnknown);
  EXPECT_EQ(found.missing, "[python: version]");
  ASSERT_NE(found.module, nullptr);
  EXPECT_EQ(found.module->path, "/usr/bin/python3.13");
}

TEST_F(FindPythonTest, OneThatDoesNotExportAllIsUnknown) {
  EXPECT_EQ(FindPython(Program("PyCode_Type")).form, RuntimeForm::kUnknown);
}

}  // namespace
}  // namespace offcpu
