// A server of tokio's on the socket "socket". Each byte of a client is a request, and says what it waits for: a second.
use tokio::io::{AsyncReadExt, AsyncWriteExt};

// Functions of their own in every build: they are not inlined, and have something left to do when they have waited.
mod wait {
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    #[inline(never)]
    pub fn sleep() -> bool {
        std::thread::sleep(SECOND);
        true
    }

    #[inline(never)]
    pub fn condition() -> bool {
        let mutex = Mutex::new(());
        let guard = mutex.lock().unwrap();
        let (_guard, waited) = Condvar::new().wait_timeout(guard, SECOND).unwrap();
        waited.timed_out()
    }

    #[inline(never)]
    pub fn task() -> bool {
        tokio::runtime::Handle::current().block_on(tokio::time::sleep(SECOND));
        true
    }
}

async fn serve(mut client: tokio::net::UnixStream) {
    let mut request = [0u8; 1];
    while let Ok(1) = client.read(&mut request).await {
        let waited = match request[0] {
            b's' => wait::sleep(),
            b'c' => wait::condition(),
            b'b' => tokio::task::spawn_blocking(wait::sleep).await.unwrap(),
            b'p' => tokio::task::block_in_place(wait::sleep),
            b't' => tokio::task::block_in_place(wait::task),
            _ => false,
        };
        if !waited || client.write_all(&request).await.is_err() {
            return;
        }
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(3)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::task::spawn_blocking(|| ()).await.unwrap(); // so that this pool has a thread
        let listener = tokio::net::UnixListener::bind("socket").unwrap();
        loop {
            tokio::spawn(serve(listener.accept().await.unwrap().0));
        }
    });
}
