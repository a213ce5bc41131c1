// A page for a browser that answers "where does it wait?", or of two profiles "what has changed?": one file that needs
// nothing else and asks nobody.
//
// What the page does is in page/, the same for every profile: modules of JavaScript, a style sheet and the elements
// that they fill. The profile is text in base64 beside them (page_data.h). So no byte of a profile is ever markup or
// code, and the page's own policy lets nothing run but what was built, by its hash, and nothing be fetched.
//
// All rows are in it, also waits for work: the page hides and shows them itself. Pure functions.
#ifndef OFFCPU_HTML_HTML_H_
#define OFFCPU_HTML_HTML_H_

#include "bytes/byte_sink.h"
#include "html/page_data.h"
#include "profile/named_profile.h"

namespace offcpu {

void WriteHtml(const NamedProfile& profile, const PageOptions& options, ByteSink sink);

// Names of threads and programs that differ in a number alone are one (tables/row_groups.h).
void WriteHtmlOfBoth(NamedProfile before, NamedProfile after, const PageOptions& options, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_HTML_HTML_H_
