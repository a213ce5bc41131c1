// Whose code a frame is: the program's own, that of others (libc, a runtime, the kernel), or nobody's. A file is known by
// its name, and functions that compilers and runtimes put into the program itself are known by theirs. Pure functions.
import { KIND } from './kinds.mjs';

export const OWNER = { program: 0, others: 1, nobody: 2 };

// Names of files, without what follows "lib" and the name.
const LIBRARIES = [
  ...['ld-linux[\\w-]*', 'ld-musl[\\w-]*', 'ld', 'libc', 'libm', 'librt', 'libdl', 'libpthread', 'libresolv', 'libnss_\\w+'],
  ...['libstdc\\+\\+', 'libgcc_s', 'libc\\+\\+(?:abi)?', 'libunwind', 'libgomp', 'libomp', 'libtbb', 'libasan', 'libtsan'],
  ...['libjvm', 'libjli', 'libjava', 'libnio', 'libnet', 'libzip', 'libcoreclr', 'libclrjit', 'libSystem\\.\\w+'],
  ...['libpython[\\d.]+', 'libruby(?:-[\\d.]+)?', 'libphp[\\d.]*', 'libperl', 'libnode', 'libuv', 'libv8\\w*', 'libmono\\w*'],
];
const RUNTIMES = ['java', 'node', 'nodejs', 'python[\\d.]*', 'ruby[\\d.]*', 'php[\\w.-]*', 'perl[\\d.]*', 'beam\\.smp', 'dotnet'];
const FILE = new RegExp(`^(?:(?:${LIBRARIES.join('|')})(?:-[\\d.]+)?\\.so(?:\\.[\\d.]+)?|${RUNTIMES.join('|')}|\\[vdso\\]|linux-vdso\\.so.*)$`);

// Functions of Go, Rust and C++ that are linked into every program, and what the linker puts before main.
const FUNCTION = /^(?:runtime\.|internal\/|<?(?:std|core|alloc|tokio)::|__libc_|_start$|start_thread$|clone3?$)/;

export function ownerOf(name, module, kind) {
  if (kind === KIND.interpreted) return OWNER.program;
  if (kind === KIND.kernel) return OWNER.others;
  if (kind !== KIND.user) return OWNER.nobody;
  return FILE.test(module) || FUNCTION.test(name) ? OWNER.others : OWNER.program;
}

// By frame.
export function owners({ names, modules, kinds }) {
  return Uint8Array.from(names, (name, i) => ownerOf(name, modules[i], kinds[i]));
}
