"""The compared proxies, each in front of the same server, with as many workers as there are cores."""

import os
import shutil
import sys
from pathlib import Path

from processes import Server, free_port

HERE = Path(__file__).parent
CORES = os.cpu_count()

NGINX = """
worker_processes {cores};
error_log {folder}/error.log warn;
pid {folder}/nginx.pid;
daemon off;
{user}
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  default_type application/octet-stream;
  keepalive_timeout 60s;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/temp;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  {http}
  server {{
    listen 127.0.0.1:{port};
    {server}
  }}
}}
"""


def nginx(folder, http, server):
    folder = Path(folder)
    folder.mkdir()
    port = free_port()
    # If root starts nginx, its workers run as another user, who cannot read a temporary folder.
    user = "user root;" if os.geteuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, cores=CORES, port=port, http=http, server=server, user=user))
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    return Server([program, "-e", folder / "start.log", "-c", configuration], port, folder / "log")


def nginx_files(folder, files):
    """nginx as a server of plain files, which are fresh for an hour."""
    return nginx(folder, "", f'location / {{ root {files}; add_header Cache-Control "max-age=3600"; }}')


def nginx_proxy(folder, upstream):
    """nginx with proxy_cache."""
    cache = (
        f"proxy_cache_path {folder}/cache levels=1:2 keys_zone=cache:10m inactive=1h use_temp_path=off;"
        f"upstream origin {{ server {upstream.removeprefix('http://')}; keepalive 16; }}")
    location = (
        "location / { proxy_pass http://origin; proxy_cache cache; proxy_cache_lock on; proxy_http_version 1.1;"
        ' proxy_set_header Connection ""; }')
    return nginx(folder, cache, location)


def larder_proxy(folder, upstream, program):
    folder = Path(folder)
    folder.mkdir()
    port = free_port()
    arguments = [
        program, "proxy", "--upstream", upstream, "--port", port, "--cache", folder / "cache", "--max-size", "4G",
        "--quiet"]
    return Server(arguments, port, folder / "log")


def hishel_proxy(folder, upstream):
    folder = Path(folder)
    folder.mkdir()
    port = free_port()
    arguments = [sys.executable, HERE / "hishel_proxy.py", upstream, port, folder, CORES]
    return Server(arguments, port, folder / "log")


def origin(folder):
    port = free_port()
    return Server([sys.executable, "-I", HERE / "origin.py", port], port, Path(folder) / "origin.log")
