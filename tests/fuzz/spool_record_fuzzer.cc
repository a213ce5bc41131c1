// Bytes that claim to be a file of the spool: a record, or the count of losses. What is read is written again as it
// was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "export/spool_losses.h"
#include "export/spool_record.h"

namespace {

// A fuzzer does not find sums: those of its bytes are made to fit, so that what is behind them is tried, too.
std::string WithSums(const std::string& bytes) {
  using offcpu::kSpoolHeaderBytes;
  if (bytes.size() < kSpoolHeaderBytes) return bytes;
  offcpu::SpoolRecord record;
  record.body = bytes.substr(kSpoolHeaderBytes);
  offcpu::SpoolHeader header = offcpu::MakeSpoolHeader(record, 1, {}).value();
  const auto take = [&bytes](size_t offset, auto& value) {
    bytes.copy(reinterpret_cast<char*>(&value), sizeof(value), offset);
  };
  take(16, header.number);
  take(24, header.start_unix_ns);
  take(32, header.duration_ns);
  take(40, header.part);
  take(44, header.parts);
  take(72, header.body_bytes);
  return offcpu::EncodeSpoolHeader(header) + record.body;
}

void TryRecord(const std::string& bytes) {
  const auto header = offcpu::ParseSpoolHeader(bytes);
  const auto record = offcpu::ParseSpoolRecord(bytes);
  if (!record.ok()) return;
  if (!header.ok() || record->body.size() > offcpu::kMaxSpoolBodyBytes) std::abort();
  const auto again = offcpu::MakeSpoolHeader(*record, record->number, header->appended);
  if (!again.ok() || offcpu::EncodeSpoolHeader(*again) + record->body != bytes) std::abort();
  const uint64_t share_ns = offcpu::ShareOfWindowNs(record->duration_ns, record->part, record->parts);
  if (share_ns > record->duration_ns) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  TryRecord(bytes);
  TryRecord(WithSums(bytes));
  const auto ledger = offcpu::ParseSpoolLedger(bytes);
  if (ledger.ok() && offcpu::EncodeSpoolLedger(*ledger) != bytes) std::abort();
  return 0;
}
