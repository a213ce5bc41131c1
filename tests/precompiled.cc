// Nothing: tests/precompiled.h is compiled beside it.
