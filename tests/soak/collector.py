"""A collector of OTLP profiles that takes whatever is sent."""

import http.server
import threading


class Collector:
    """Takes every window and says so, or is away."""

    def __init__(self, port=0):
        self.port = port
        self.windows = 0
        self.server = None
        self.come()

    def come(self):
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                collector.windows += 1
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def go(self):
        self.server.shutdown()
        self.server.server_close()
