"""The board, a process of its own:  python3 board.py FOLDER
POST /posts honours Idempotency-Key: the same key gives the same post. GET /posts lists. FOLDER/address says where it is.
"""

import json
import os
import pathlib
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

folder = pathlib.Path(sys.argv[1])
log = folder / "posts.jsonl"
lock = Lock()
posts = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


class Board(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {"items": posts}) if self.path == "/posts" else self.answer(404, {"error": "not_found"})

    def do_POST(self):
        key = self.headers.get("Idempotency-Key")
        args = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path != "/posts" or not key:
            return self.answer(400, {"error": "bad_request"})
        with lock:
            known = next((post for post in posts if post["key"] == key), None)
            if known and known["args"] != args:
                return self.answer(409, {"error": "key_conflict"})
            return self.answer(200, {"number": (known or self.store(key, args))["number"]})

    def store(self, key, args):
        post = {"number": len(posts) + 1, "key": key, "args": args}
        with log.open("a") as file:
            file.write(json.dumps(post) + "\n")
            file.flush()
            os.fsync(file.fileno())
        posts.append(post)
        return post

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Board)
part = folder / "address.part"
part.write_text(f"http://127.0.0.1:{server.server_port}")
part.replace(folder / "address")
server.serve_forever()
