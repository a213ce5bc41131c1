# A shared object whose symbols lie at known link-time addresses: the linker puts .text at 0x1000.
        .text
        .globl  fixture_sized, __fixture_sized
        .type   fixture_sized, @function
        .type   __fixture_sized, @function
fixture_sized:                          # 0x1000, 32 bytes, with an alias
__fixture_sized:
        .skip   8, 0x90
fixture_label:                          # 0x1008, inside a function: only a label
        .skip   24, 0x90
        .size   fixture_sized, . - fixture_sized
        .size   __fixture_sized, . - __fixture_sized

        .type   fixture_local, @function
fixture_local:                          # 0x1020, 16 bytes, not in .dynsym
        .skip   16, 0x90
        .size   fixture_local, . - fixture_local
        .skip   16, 0x90                # 0x1030: belongs to no symbol

        .globl  fixture_unsized
fixture_unsized:                        # 0x1040, no type and no size: until the next one
        .skip   16, 0x90

        .type   _ZN7fixture3fooEi.isra.0, @function
_ZN7fixture3fooEi.isra.0:               # 0x1050, 16 bytes, a C++ name
        .skip   16, 0x90
        .size   _ZN7fixture3fooEi.isra.0, . - _ZN7fixture3fooEi.isra.0

        .globl  fixture_last
fixture_last:                           # 0x1060, no size: until the section ends at 0x1070
        .skip   16, 0x90

        .data
        .globl  fixture_data
        .type   fixture_data, @object
fixture_data:
        .quad   0
        .size   fixture_data, 8

        .section .note.GNU-stack, "", @progbits
