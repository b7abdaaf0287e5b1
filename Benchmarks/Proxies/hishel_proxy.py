"""A typical caching reverse proxy in Python: Starlette under uvicorn, httpx, and hishel with the rules of RFC 9111.

    hishel_proxy.py UPSTREAM PORT FOLDER WORKERS
"""

import os
import sys
from pathlib import Path

import hishel
import hishel.httpx
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

HOP_BY_HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"proxy-connection"}


def make():
    upstream = os.environ["UPSTREAM"]
    storage = hishel.AsyncSqliteStorage(database_path=os.environ["DATABASE"])
    transport = hishel.httpx.AsyncCacheTransport(httpx.AsyncHTTPTransport(), storage=storage, rfc=True)
    client = httpx.AsyncClient(transport=transport)

    async def forward(request):
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        fields = [(name, value) for name, value in request.headers.raw if name not in HOP_BY_HOP | {b"host"}]
        upstream_response = await client.request(request.method, upstream + path, headers=fields, content=await request.body())
        response = Response(upstream_response.content, upstream_response.status_code)
        response.raw_headers = [
            (name.lower(), value) for name, value in upstream_response.headers.raw if name.lower() not in HOP_BY_HOP]
        return response

    return Starlette(routes=[Route("/{path:path}", forward, methods=["GET", "HEAD", "POST", "PUT", "DELETE"])])


if __name__ == "__main__":
    upstream, port, folder, workers = sys.argv[1:]
    os.environ.update(UPSTREAM=upstream, DATABASE=str(Path(folder) / "hishel.db"))
    uvicorn.run(
        "hishel_proxy:make", factory=True, app_dir=str(Path(__file__).parent), port=int(port), workers=int(workers),
        loop="uvloop", http="httptools", log_level="warning", access_log=False)
