// As wait.py.
const fs = require('fs');
const nobody = new Int32Array(new SharedArrayBuffer(4));

function inner() {
  Atomics.wait(nobody, 0, 0, 2);
  return 1;
}

function middle() {
  return inner() + 1;
}

function outer() {
  return middle() + 1;
}

fs.writeSync(1, `ready pid=${process.pid}\n`);
fs.readSync(0, Buffer.alloc(1));
for (let i = 0; i < 200; ++i) outer();
fs.writeSync(1, 'done\n');
fs.readSync(0, Buffer.alloc(1));
