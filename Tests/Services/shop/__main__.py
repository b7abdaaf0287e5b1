"""Serves the shop over HTTP/1.1 with persistent connections, one thread a connection.

    python -m shop --port N [--seed N] [--products N] [--page-size N] [--version 4.0|4.01] [--short-names]
"""

import argparse
import http.server
import sys
import urllib.parse

from odatapy.server import OData
from odatapy.server.adapters import ODataWSGIApp

from .model import ShopModel
from .processor import PHOTO_PATH, ShopETags, ShopProcessor

MOUNT = "/shop"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server_version = "LarderShop"
    app = None
    processor = None

    def handle_any(self):
        body = self.content()
        if body is None:
            return
        path, _, query = self.path.partition("?")
        photo = PHOTO_PATH.fullmatch(urllib.parse.unquote(path).removeprefix(MOUNT + "/"))
        if photo and self.command == "PUT":
            kind = self.headers.get("Content-Type", "application/octet-stream")
            known = self.processor.put_photo(int(photo[1]), body, kind)
            self.answer("204 No Content" if known else "404 Not Found", [], b"")
            return
        if path != MOUNT and not path.startswith(MOUNT + "/"):
            self.answer("404 Not Found", [("Content-Type", "text/plain")], b"nothing but /shop is served here\n")
            return
        environ = {
            "REQUEST_METHOD": self.command, "SCRIPT_NAME": "", "PATH_INFO": urllib.parse.unquote(path, "latin-1"),
            "REQUEST_URI": self.path, "QUERY_STRING": query, "wsgi.url_scheme": "http",
            "SERVER_NAME": "127.0.0.1", "SERVER_PORT": str(self.server.server_port),
            "CONTENT_LENGTH": str(len(body)), "wsgi.input": Content(body),
        }
        for name, value in self.headers.items():
            if name.lower() == "content-type":
                environ["CONTENT_TYPE"] = value
            elif name.lower() not in ("content-length", "transfer-encoding"):
                environ["HTTP_" + name.upper().replace("-", "_")] = value
        status = []
        # One at a time: what the framework puts in line on stored entities for one request, others would see.
        with self.processor.store.lock:
            content = b"".join(self.app(environ, lambda line, fields: status.extend([line, fields])))
        self.answer(status[0], status[1], content)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_MERGE = handle_any

    def content(self):
        """The request's content, in a known length or in chunks; `None` where it broke off."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            return body if len(body) == length else None
        chunks = []
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(chunks)

    def answer(self, status, fields, body):
        code, _, phrase = status.partition(" ")
        self.send_response(int(code), phrase)
        for name, value in fields:
            if name.lower() != "content-length":
                self.send_header(name, value)
        if int(code) not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and int(code) not in (204, 304):
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format, *arguments):
        pass


class Content:
    def __init__(self, body):
        self.body, self.place = body, 0

    def read(self, count=-1):
        end = len(self.body) if count < 0 else self.place + count
        piece, self.place = self.body[self.place:end], end
        return piece


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    parser = argparse.ArgumentParser(prog="shop", description="An OData V4.01 service for tests.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", type=int, default=42, help="of the generated products (default: 42)")
    parser.add_argument("--products", type=int, default=40, help="how many, six of them hand-made (default: 40)")
    parser.add_argument("--page-size", type=int, default=None, help="server-driven paging (default: none)")
    parser.add_argument("--version", choices=("4.0", "4.01"), default="4.01")
    parser.add_argument("--short-names", action="store_true", help="control information without 'odata.' in 4.01")
    arguments = parser.parse_args()

    odata = OData.new_instance()
    metadata = odata.create_service_metadata(ShopModel(), arguments.version)
    handler = odata.create_handler(metadata)
    processor = ShopProcessor(
        f"http://127.0.0.1:{arguments.port}{MOUNT}", arguments.page_size, arguments.short_names)
    handler.register(processor)
    handler.register(ShopETags())
    processor.fill(arguments.seed, arguments.products)

    Handler.app = ODataWSGIApp(handler, MOUNT)
    Handler.processor = processor
    server = Server(("127.0.0.1", arguments.port), Handler)
    print(f"shop listening on http://127.0.0.1:{server.server_port}{MOUNT}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
