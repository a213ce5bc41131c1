// As wait.py.
use std::io::{stdin, BufRead};

#[inline(never)]
fn inner() -> u64 {
    std::thread::sleep(std::time::Duration::from_millis(2));
    std::hint::black_box(1)
}

#[inline(never)]
fn middle() -> u64 {
    std::hint::black_box(inner()) + 1
}

#[inline(never)]
fn outer() -> u64 {
    std::hint::black_box(middle()) + 1
}

fn main() {
    let mut line = String::new();
    println!("ready pid={}", std::process::id());
    stdin().lock().read_line(&mut line).unwrap();
    for _ in 0..200 {
        outer();
    }
    println!("done");
    stdin().lock().read_line(&mut line).unwrap();
}
