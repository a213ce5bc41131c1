#include "html/html.h"

#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "bytes/gzip.h"
#include "html/page.h"
#include "tables/row_groups.h"

namespace offcpu {
namespace {

// As a policy names the text of an element: 'sha256-...' in base64.
std::string PolicyHash(std::string_view sha256) {
  return absl::StrCat("'sha256-", absl::Base64Escape(std::string(sha256)), "'");
}

// What is not allowed here is forbidden, all of the network included, and so is text that becomes markup.
std::string Policy() {
  return absl::StrCat(
      "default-src 'none'; script-src ", PolicyHash(kPageScriptSha256), "; style-src ", PolicyHash(kPageStyleSha256),
      "; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
}

void WritePage(const std::string& data, ByteSink sink) {
  std::string packed;
  const auto pack = [&packed](std::string_view bytes) { packed += bytes; };
  GzipWriter gzip(pack);
  gzip.Append(data);
  gzip.Finish();
  sink("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  sink(absl::StrCat("<meta http-equiv=\"Content-Security-Policy\" content=\"", Policy(), "\">\n"));
  sink(
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Where it "
      "waits</title>\n<style>");
  sink(kPageStyle);
  sink("</style>\n</head>\n<body>\n");
  sink(kPageBody);
  sink("<script type=\"application/octet-stream\" id=\"profile\">");
  sink(absl::Base64Escape(packed));
  sink("</script>\n<script type=\"module\">");
  sink(kPageScript);
  sink("</script>\n</body>\n</html>\n");
}

}  // namespace

void WriteHtml(const NamedProfile& profile, const PageOptions& options, ByteSink sink) {
  WritePage(PageData(profile, options), sink);
}

void WriteHtmlOfBoth(NamedProfile before, NamedProfile after, const PageOptions& options, ByteSink sink) {
  LeaveOutNumbers(&before, &after);
  WritePage(PageDataOfBoth(before, after, options), sink);
}

}  // namespace offcpu
