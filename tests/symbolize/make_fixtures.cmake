# Makes the forms in which distributions ship an object from the one that the linker made:
#   stripped.so    only .dynsym, and a .gnu_debuglink to separate.debug
#   separate.debug the symbol table, apart
#   mini.so        .dynsym and .gnu_debugdata
# Run with -DOBJCOPY=... -DXZ=... -DINPUT=... in the directory of the results.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${OBJCOPY} --only-keep-debug ${INPUT} separate.debug)
run(${OBJCOPY} --strip-all --add-gnu-debuglink=separate.debug ${INPUT} stripped.so)
run(${XZ} --keep --force separate.debug)
run(${OBJCOPY} --strip-all --add-section .gnu_debugdata=separate.debug.xz ${INPUT} mini.so)
