#include "process/service_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace offcpu {
namespace {

// Texts as /proc has them: each word ends with a zero.
template <typename... Words>
std::string Of(Words... words) {
  std::string text;
  for (const std::string_view word : {std::string_view(words)...}) text += std::string(word) + '\0';
  return text;
}

TEST(DeclaredService, IsTheVariablesValue) {
  EXPECT_EQ(DeclaredService(Of("PATH=/bin", "OTEL_SERVICE_NAME=shop", "HOME=/")), "shop");
  EXPECT_EQ(DeclaredService(Of("PATH=/bin", "MY_OTEL_SERVICE_NAME=shop")), "");
  EXPECT_EQ(DeclaredService(Of("OTEL_SERVICE_NAME=")), "");
  EXPECT_EQ(DeclaredService(""), "");
}

// The specification: it takes precedence, wherever it stands.
TEST(DeclaredService, ComesBeforeTheAttributes) {
  EXPECT_EQ(DeclaredService(Of("OTEL_RESOURCE_ATTRIBUTES=service.name=cart", "OTEL_SERVICE_NAME=shop")), "shop");
  EXPECT_EQ(DeclaredService(Of("OTEL_RESOURCE_ATTRIBUTES=service.name=cart", "OTEL_SERVICE_NAME=")), "cart");
}

TEST(DeclaredService, IsAmongTheAttributes) {
  const auto among = [](std::string_view attributes) {
    return DeclaredService(Of("A=1", "OTEL_RESOURCE_ATTRIBUTES=" + std::string(attributes)));
  };
  EXPECT_EQ(among("service.name=cart"), "cart");
  EXPECT_EQ(among("service.namespace=eu, service.name = cart ,service.version=2"), "cart");
  EXPECT_EQ(among("service.name=a%2Cb%20%25"), "a,b %");
  EXPECT_EQ(among("service.name=50%"), "50%");
  EXPECT_EQ(among("service.name=%2"), "%2");
  EXPECT_EQ(among("service.names=cart"), "");
  EXPECT_EQ(among("service.name"), "");
  EXPECT_EQ(among(",,="), "");
}

TEST(DeclaredService, HasABound) {
  const std::string longest(kMostServiceBytes, 'x');
  EXPECT_EQ(DeclaredService(Of("OTEL_SERVICE_NAME=" + longest)), longest);
  EXPECT_EQ(DeclaredService(Of("OTEL_SERVICE_NAME=" + longest + "x")), "");
  EXPECT_EQ(DeclaredService(Of("OTEL_RESOURCE_ATTRIBUTES=service.name=" + longest + "x")), "");
}

// A process may write what it likes over it.
TEST(DeclaredService, AnyPrefixOfAnEnvironmentIsRead) {
  const std::string whole = Of("OTEL_RESOURCE_ATTRIBUTES=a=b,service.name=c%20d", "OTEL_SERVICE_NAME=shop");
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::string name = DeclaredService(whole.substr(0, bytes));
    EXPECT_LE(name.size(), 4u + 1u) << bytes;
  }
}

TEST(Script, IsTheJarOrTheMainClassOfJava) {
  EXPECT_EQ(ScriptOf("/usr/bin/java", Of("java", "-jar", "shop.jar", "--port", "80")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/java", Of("java", "-Xmx1g", "-Dx=y", "-jar", "/opt/shop/shop.jar")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/java", Of("java", "-cp", "a.jar:b.jar", "-ea", "com.example.Shop", "x")),
            "com.example.Shop");
  EXPECT_EQ(ScriptOf("/usr/bin/java", Of("java", "-p", "mods", "-m", "shop/com.example.Shop")), "com.example.Shop");
  EXPECT_EQ(ScriptOf("/usr/bin/java", Of("java", "-version")), "");
  EXPECT_EQ(ScriptOf("/usr/bin/java", Of("java", "-jar")), "");
}

TEST(Script, IsTheFileOrTheModuleOfPython) {
  EXPECT_EQ(ScriptOf("/usr/bin/python3.11", Of("python3", "/srv/shop.py", "serve")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/python3.11", Of("python3", "-u", "-X", "perf", "shop.py")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/python3.11", Of("python3", "-m", "http.server")), "http.server");
  EXPECT_EQ(ScriptOf("/usr/bin/python3.11", Of("python3", "-c", "import time", "shop.py")), "");
  EXPECT_EQ(ScriptOf("/usr/bin/python3.11", Of("python3", "/usr/bin/gunicorn", "app:app")), "gunicorn");
  EXPECT_EQ(ScriptOf("/usr/bin/python3.11", Of("python3")), "");
}

TEST(Script, IsTheFileOfOthers) {
  EXPECT_EQ(ScriptOf("/usr/bin/node", Of("node", "--max-old-space-size=4096", "-r", "dotenv/config", "shop.mjs")),
            "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/ruby3.1", Of("ruby", "-I", "lib", "shop.rb")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/perl", Of("perl", "-w", "shop.pl")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/php8.2", Of("php", "-f", "shop.php")), "shop");
  EXPECT_EQ(ScriptOf("/usr/bin/dotnet", Of("dotnet", "Shop.dll")), "Shop");
  EXPECT_EQ(ScriptOf("/usr/bin/dash", Of("/bin/sh", "-e", "./run.sh")), "run");
  EXPECT_EQ(ScriptOf("/usr/bin/bash", Of("bash", "-c", "sleep 1")), "");
}

TEST(Script, ProgramsThatInterpretNothingHaveNone) {
  EXPECT_EQ(ScriptOf("/usr/sbin/nginx", Of("nginx", "shop.py")), "");
  EXPECT_EQ(ScriptOf("/opt/java-tool", Of("java-tool", "-jar", "shop.jar")), "");
  EXPECT_EQ(ScriptOf("", Of("java", "-jar", "shop.jar")), "");
}

// A program may write a title of its own over its arguments.
TEST(Script, WordsOfAnyFormAreRead) {
  EXPECT_EQ(ScriptOf("/usr/bin/python3", "shop: worker 3"), "");
  EXPECT_EQ(ScriptOf("/usr/bin/python3", std::string(10, '\0')), "");
  EXPECT_EQ(ScriptOf("/usr/bin/python3", Of("python3", std::string(kMostServiceBytes, 'x'))),
            std::string(kMostServiceBytes, 'x'));
  EXPECT_EQ(ScriptOf("/usr/bin/python3", Of("python3", std::string(kMostServiceBytes + 1, 'x'))), "");
}

TEST(ReadServiceNames, AProcessThatIsGoneHasNone) { EXPECT_EQ(ReadServiceNames(4'194'304, "java"), ServiceNames()); }

}  // namespace
}  // namespace offcpu
