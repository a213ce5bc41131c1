# Moves .gopclntab of an ELF file to its end and pads it to MIB. Usage: enlarge_go_table.py FILE MIB
import struct
import sys

path, size = sys.argv[1], int(sys.argv[2]) << 20
data = bytearray(open(path, "rb").read())
(headers,) = struct.unpack_from("<Q", data, 40)
number, names = struct.unpack_from("<HH", data, 60)
(strings,) = struct.unpack_from("<Q", data, headers + 64 * names + 24)
for at in range(headers, headers + 64 * number, 64):
    (name,) = struct.unpack_from("<I", data, at)
    if data[strings + name :].startswith(b".gopclntab\0"):
        begin, length = struct.unpack_from("<QQ", data, at + 24)
        struct.pack_into("<QQ", data, at + 24, len(data), size)
        data += data[begin : begin + length] + b"\0" * (size - length)
        break
open(path, "wb").write(data)
