#include "symbolize/demangle.h"

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(DemangleTest, CppNamesHaveTemplateArgumentsButNoParameterList) {
  EXPECT_EQ(Demangle("_ZN3foo3barEv"), "foo::bar");
  EXPECT_EQ(Demangle("_Z3fooIiEvT_"), "foo<int>");
  EXPECT_EQ(Demangle("_ZNKSt6vectorIiSaIiEE4sizeEv"), "std::vector<int, std::allocator<int> >::size");
  EXPECT_EQ(Demangle("_ZN3FooC1Ev"), "Foo::Foo");
  EXPECT_EQ(Demangle("_ZZ3fooiENKUlvE_clEv"), "foo(int)::{lambda()#1}::operator()");
}

TEST(DemangleTest, LegacyRustNamesHaveNoHash) {
  EXPECT_EQ(Demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
  EXPECT_EQ(Demangle("_ZN4core3fmt3num50_$LT$impl$u20$core..fmt..Debug$u20$for$u20$u32$GT$3fmt17h0123456789abcdefE"),
            "core::fmt::num::<impl core::fmt::Debug for u32>::fmt");
}

TEST(DemangleTest, RustV0Names) {
  EXPECT_EQ(Demangle("_RNvC7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(Demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(Demangle("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y"),
            "utf8_idents::საჭმელად_გემრიელი_სადილი");
}

TEST(DemangleTest, WhatTheCompilerAppendedIsDropped) {
  EXPECT_EQ(Demangle("_ZN3foo3barEv.cold"), "foo::bar");
  EXPECT_EQ(Demangle("_ZN3foo3barEv.isra.0"), "foo::bar");
  EXPECT_EQ(Demangle("_ZN3foo3barEv.part.0.constprop.12.cold"), "foo::bar");
  EXPECT_EQ(Demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.1234567890"), "core::fmt::Formatter::pad");
  EXPECT_EQ(Demangle("_RNvC7mycrate3foo.llvm.99"), "mycrate::foo");
}

TEST(DemangleTest, OtherNamesStayAsTheyAre) {
  for (const char* name : {"", "main", "foo.isra.0", "main.cold", "_start", "_Z", "_R", "_ZN", "_Z3fo", ".cold", "_Z.0",
                           "_Z.cold", "_RNvC7mycrate"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

TEST(DemangleTest, NamesUpToTheLimitAreDemangled) {
  std::string crate(kMaxMangledBytes - 11, 'a');
  std::string mangled = "_RNvC" + std::to_string(crate.size()) + crate + "1f";
  ASSERT_EQ(mangled.size(), kMaxMangledBytes);
  EXPECT_TRUE(Demangle(mangled) == crate + "::f");
  crate += 'a';
  mangled = "_RNvC" + std::to_string(crate.size()) + crate + "1f";
  EXPECT_TRUE(Demangle(mangled) == mangled);
}

TEST(DemangleTest, CppNamesUpToTheirLimitAreDemangled) {
  std::string function(1024 - 7, 'a');
  std::string mangled = "_Z" + std::to_string(function.size()) + function + "v";
  ASSERT_EQ(mangled.size(), 1024u);
  EXPECT_TRUE(Demangle(mangled) == function);
  function += 'a';
  mangled = "_Z" + std::to_string(function.size()) + function + "v";
  EXPECT_TRUE(Demangle(mangled) == mangled);
}

// f<P<int, int>, P<S, S>, P<S, S>, ...>, S being the argument before: each level doubles the name.
std::string Doubling(int levels) {
  static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fI1PIiiE";
  for (int i = 1; i <= levels; ++i) {
    std::string seq = i < 36 ? std::string(1, kDigits[i]) : std::string("1") + kDigits[i - 36];
    name += "S0_IS" + seq + "_S" + seq + "_E";
  }
  return name + "Evv";
}

TEST(DemangleTest, ANameThatStandsForGigabytesStaysAsItIs) {
  EXPECT_EQ(Demangle(Doubling(1)), "f<P<int, int>, P<P<int, int>, P<int, int> > >");
  std::string mangled = Doubling(60);
  ASSERT_LT(mangled.size(), 1000u);
  EXPECT_EQ(Demangle(mangled), mangled);
}

// a::f::<(X, X), (S, S), (S, S), ...>, S being the argument before, as back references to its place in the name.
std::string RustDoubling(int levels, const std::string& crate) {
  static constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  auto back_reference = [](size_t place) {
    std::string digits;
    for (size_t rest = place - 1;; rest /= 62) {
      digits.insert(digits.begin(), kDigits[rest % 62]);
      if (rest < 62) return "B" + digits + "_";
    }
  };
  std::string name = "INvC" + crate + "1f";  // places count from here, after "_R"
  size_t previous = name.size();
  name += "TNvC" + crate + "1XuE";
  for (int i = 0; i < levels; ++i) {
    size_t place = name.size();
    name += "T" + back_reference(previous) + back_reference(previous) + "E";
    previous = place;
  }
  return "_R" + name + "E";
}

TEST(DemangleTest, ARustNameThatStandsForGigabytesStaysAsItIs) {
  EXPECT_EQ(Demangle(RustDoubling(1, "1a")), "a::f::<(a::X, ()), ((a::X, ()), (a::X, ()))>");
  std::string mangled = RustDoubling(60, "1a");
  EXPECT_EQ(Demangle(mangled), mangled);
}

// A name in Punycode passes through memory of the demangler, which must come back: this one is so long that it is where
// the limit is met.
TEST(DemangleTest, PunycodeThatStandsForGigabytesLeavesNoMemoryBehind) {
  EXPECT_EQ(Demangle(RustDoubling(0, "u8gdel_5qa")), "gödel::f::<(gödel::X, ())>");
  std::string crate = "u1004" + std::string(1000, 'a') + "_5qa";
  EXPECT_TRUE(Demangle(RustDoubling(0, crate)).ends_with("::X, ())>"));
  std::string mangled = RustDoubling(60, crate);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Demangle(mangled) == mangled);
}

TEST(DemangleTest, DeepNestingIsSurvived) {
  std::string mangled = "_Z1fI" + std::string(4000, 'P') + "iEvv";
  EXPECT_FALSE(Demangle(mangled).empty());
}

TEST(DemangleTest, NoPrefixOfANameDoesHarm) {
  std::string name = "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y.llvm.12";
  for (size_t size = 0; size <= name.size(); ++size) EXPECT_EQ(Demangle(name.substr(0, size)).empty(), size == 0);
  name = Doubling(3) + ".cold";
  for (size_t size = 0; size <= name.size(); ++size) EXPECT_EQ(Demangle(name.substr(0, size)).empty(), size == 0);
}

}  // namespace
}  // namespace offcpu
