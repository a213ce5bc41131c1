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

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Substitutions count from "S_" and "S0_".
std::string Substitution(int number) {
  static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return number < 36 ? std::string("S") + kDigits[number] + "_" : std::string("S1") + kDigits[number - 36] + "_";
}

// f<P<int, int>, P<S, S>, P<S, S>, ...>, S being the argument before: each level doubles the name.
std::string Doubling(int levels) {
  std::string name = "_Z1fI1PIiiE";
  for (int i = 1; i <= levels; ++i) name += "S0_I" + Substitution(i) + Substitution(i) + "E";
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

// f<(A<A<A<int, int>, S>, S>)...>, S being the first argument of the same A: each level doubles what is searched for a
// pack before anything is printed.
std::string Expansion(int levels) {
  std::string name = "_Z1fIDp1A" + Repeated("IS0_", levels) + "IiiE";
  for (int i = 1; i <= levels; ++i) name += Substitution(i) + "E";
  return name + "Evv";
}

TEST(DemangleTest, APackExpansionThatIsSearchedForEverStaysAsItIs) {
  ASSERT_EQ(Expansion(2), "_Z1fIDp1AIS0_IS0_IiiES1_ES2_EEvv");
  EXPECT_EQ(Demangle(Expansion(2)), "f<(A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, int> > >)...>");
  EXPECT_NE(Demangle(Expansion(4)), Expansion(4));
  for (int levels : {5, 16, 60}) EXPECT_EQ(Demangle(Expansion(levels)), Expansion(levels));
  // An operand of a suffix ++ is in the tree twice.
  EXPECT_EQ(Demangle("_Z1fIDpDTppppppLi1EEEvv"), "f<(decltype ((((1)++)++)++))...>");
  std::string mangled = "_Z1fIDpDT" + Repeated("pp", 60) + "Li1EEEvv";
  EXPECT_EQ(Demangle(mangled), mangled);
  // sizeof...(pattern)
  mangled = "_Z1fIXsZ" + Repeated("pp", 60) + "Li1EEEvv";
  EXPECT_EQ(Demangle(mangled), mangled);
}

TEST(DemangleTest, PackExpansionsUpToTheirLimitAreDemangled) {
  // The expansion, 254 pointers and an int: 256 components.
  EXPECT_EQ(Demangle("_Z1fIDp" + std::string(254, 'P') + "iEvv"), "f<(int" + std::string(254, '*') + ")...>");
  std::string mangled = "_Z1fIDp" + std::string(255, 'P') + "iEvv";
  EXPECT_EQ(Demangle(mangled), mangled);
}

// Names that g++ 12 made, with the meaning that c++filt -p gives them.
TEST(DemangleTest, PackExpansionsInTheNamesOfCompilersAreDemangled) {
  EXPECT_EQ(Demangle("_ZZN3app4EachIJidEEEvRKSt5tupleIJDpT_EEDpRKNS_3BoxIS1_IJS2_St6vectorIS2_SaIS2_EEEEEEENKUlOT_E_"
                     "clIiEEDaSH_"),
            "app::Each<int, double>(std::tuple<int, double> const&, "
            "app::Box<std::tuple<int, std::vector<int, std::allocator<int> > > > const&, "
            "app::Box<std::tuple<double, std::vector<double, std::allocator<double> > > > const&)"
            "::{lambda(auto:1&&)#1}::operator()<int>");
  EXPECT_EQ(Demangle("_ZZN3app4EachIJEEEvRKSt5tupleIJDpT_EEDpRKNS_3BoxIS1_IJS2_St6vectorIS2_SaIS2_EEEEEEENKUlOT_E_"
                     "clIiEEDaSH_"),
            "app::Each<>(std::tuple<> const&)::{lambda(auto:1&&)#1}::operator()<int>");
  EXPECT_EQ(Demangle("_ZSt5visitIZ4mainEUlRKT_E_JRSt7variantIJidEEEENSt13invoke_resultIS0_JDpNSt13__conditionalIX21is_"
                     "lvalue_reference_vIT0_EEE4typeIRNSt19variant_alternativeILm0ENSt16remove_referenceIDTcl4__ascl7"
                     "declvalIS9_EEEEE4typeEE4typeEOSI_EEEE4typeEOS0_DpOS9_"),
            "std::visit<main::{lambda(auto:1 const&)#1}, std::variant<int, double>&>");
  EXPECT_EQ(Demangle("_ZZ4mainENKUlDpT_E_clIJiiEEEDaS0_"), "main::{lambda((auto:1)...)#1}::operator()<int, int>");
}

// A template parameter that stands for a pack is printed with all of the pack if it is an element of another pack or in
// a fold expression. Here each level has two that stand for that of the level before, and the first pack is empty.
TEST(DemangleTest, EmptyPacksThatArePrintedForEverStayAsTheyAre) {
  for (int levels : {1, 40}) {
    std::string in_pack =
        "_Z1hIL_Z1fIJJEEEv" + Repeated("1AIL_Z1fIJJT_T_EEEv", levels) + "v" + Repeated("EE", levels) + "EEvv";
    EXPECT_EQ(Demangle(in_pack), in_pack);
    std::string in_fold =
        "_Z1hIXflplL_Z1fIJEEv" + Repeated("1AIL_Z1fIJT_T_EEv", levels) + "v" + Repeated("EE", levels) + "EEEvv";
    EXPECT_EQ(Demangle(in_fold), in_fold);
  }
}

// What follows "cvT_" is read as arguments of the type, and once more as those of the operator. The parameters of the
// function itself are not read, but count.
TEST(DemangleTest, ConversionOperatorsThatAreParsedForEverStayAsTheyAre) {
  std::string mangled = "_ZN1Acv" + Repeated("T_I", 200) + "i" + Repeated("E", 200) + "Ev";
  EXPECT_EQ(Demangle(mangled), mangled);
  EXPECT_EQ(Demangle("_ZN1AcvT_IiEE" + Repeated("T_IiE", 7)), "A::operator int<int>");
  mangled = "_ZN1AcvT_IiEE" + Repeated("T_IiE", 8);
  EXPECT_EQ(Demangle(mangled), mangled);
}

// Lambdas with packs counted in their parameters, and a template with another one's parameter.
TEST(DemangleTest, LambdasThatTheDemanglerCrashesOnStayAsTheyAre) {
  EXPECT_EQ(Demangle("_Z1fIN1AUlTyT_E_EEvv"), "f<A::{lambda<typename $T0>($T0)#1}>");
  for (const char* mangled : {"_Z1fIN1AUlDTsZT_EE_EEvv", "_Z1fIN1AUlDTsPDpT_EEE_EEvv", "_Z1fIZ1gvEUlDTsZT_EE_Evv",
                              "_ZN1AUlDTplsZT_sri1BEE_Ev", "_Z1fIN1AUlTyTyDTL_Z1gIiiEvT0_EEE_EEvv"}) {
    EXPECT_EQ(Demangle(mangled), mangled);
  }
}

TEST(DemangleTest, BindersOfRustNames) {
  EXPECT_EQ(Demangle("_RIC1aFG_RL0_hEuE"), "a::<for<'a> fn(&'a u8)>");
  // A name of rustc's own, with the meaning that c++filt gives it, without the hashes.
  EXPECT_EQ(Demangle("_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG_INtNtNtB4_3ops"
                     "8function5FnMutTRL0_eEEp6OutputbEL_EECslKGqiwnqz1t_17rustc_codegen_ssa"),
            "core::ptr::drop_in_place::<alloc::boxed::Box<dyn for<'a> core::ops::function::FnMut<(&'a str,), "
            "Output = bool>>>");
}

// In a path that is skipped: that of the crate that the function is instantiated for, or of an impl.
TEST(DemangleTest, ARustBinderThatIsCountedForEverStaysAsItIs) {
  for (const char* mangled :
       {"_RNvC1a1fIC1bFGzzzzzzzzzz_EuE", "_RNvC1a1fIC1bDGzzzzzzzzzz_C1cEL_E", "_RNvMIC1bFGzzzzzzzzzz_EuEh1f"}) {
    EXPECT_EQ(Demangle(mangled), mangled);
  }
}

TEST(DemangleTest, RustBindersUpToTheirLimitAreDemangled) {
  EXPECT_EQ(Demangle("_RNvC1a1fIC1bFG46_EuE"), "a::f");  // 4 * 62 + 6, and 2 more: 256 lifetimes
  EXPECT_EQ(Demangle("_RNvC1a1fIC1bFG47_EuE"), "_RNvC1a1fIC1bFG47_EuE");
  EXPECT_EQ(Demangle("_RNvC1a1fIC1bFG45_EuFG_EuE"), "a::f");
  EXPECT_EQ(Demangle("_RNvC1a1fIC1bFG46_EuFG_EuE"), "_RNvC1a1fIC1bFG46_EuFG_EuE");
}

TEST(DemangleTest, WhatLooksLikeABinderInAHashDoesNotMatter) {
  EXPECT_EQ(Demangle("_RNvNtCs1xDGV85I1S7_12rustc_traits7type_op20type_op_normalize_ty"),
            "rustc_traits::type_op::type_op_normalize_ty");
  // Not hashes: the ABI "C" and the type 's', the end of the identifier "xC" and the type, and what a back reference
  // reads as a type.
  for (const char* mangled : {"_RNvC1a1fIC1bFKCsFGzzzzzzzzzz_EuEuE", "_RNvC1a1fINtC1b2xCsFGzzzzzzzzzz_EuE",
                              "_RINvCsMIC1bFGzzzzzzzzzz_1x1fB4_E"}) {
    EXPECT_EQ(Demangle(mangled), mangled);
  }
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
