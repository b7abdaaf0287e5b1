"""A V4 service with one entity set, whose rows are in files, for the benchmark of the offline store.

usage: rows.py FOLDER ROWS

Writes pages of JSON to FOLDER if they do not exist, prints the port, and runs until its standard input is closed.
`/service/Rows` uses server-driven paging. With `Prefer: odata.track-changes` the last page has a delta link. Each delta has
ten times as many changed rows as the previous one: 10 to 100,000.
"""

import http.server
import os
import re
import sys
import threading

PAGE = 20_000
DELTAS = [10, 100, 1_000, 10_000, 100_000]
CITIES = "Aarau Basel Bern Chur Genf Jona Lugano Luzern Olten Sion Thun Zug".split()
CATEGORIES = "bolts cables drills files gloves hinges ladders nails paint pumps saws screws tapes tools wood".split()
WORDS = "amber barley cedar damson elder fennel ginger hazel iris juniper kale laurel mint nettle olive plum".split()

METADATA = b"""<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="Bench" xmlns="http://docs.oasis-open.org/odata/ns/edm">
<EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key>
<Property Name="ID" Type="Edm.Int64" Nullable="false"/>
<Property Name="Name" Type="Edm.String" Nullable="false"/>
<Property Name="City" Type="Edm.String"/>
<Property Name="Category" Type="Edm.String"/>
<Property Name="Price" Type="Edm.Decimal" Precision="11" Scale="2"/>
<Property Name="Weight" Type="Edm.Double"/>
<Property Name="Stock" Type="Edm.Int32"/>
<Property Name="IsActive" Type="Edm.Boolean"/>
<Property Name="Created" Type="Edm.DateTimeOffset" Precision="0"/>
<Property Name="Released" Type="Edm.Date"/>
<Property Name="Code" Type="Edm.Guid"/>
<Property Name="Note" Type="Edm.String"/>
</EntityType>
<EntityContainer Name="Container"><EntitySet Name="Rows" EntityType="Bench.Row"/></EntityContainer>
</Schema></edmx:DataServices></edmx:Edmx>
"""


def row(number, change=0):
    """The row with a number: pseudorandom values, the same in every run."""
    mixed = (number * 2654435761 + change * 40503) & 0xFFFFFFFF
    low, high = mixed & 0xFFFF, mixed >> 16
    note = "null" if mixed % 5 == 0 else f'"{WORDS[high & 15]} {WORDS[low & 15]} of {WORDS[low >> 12]}"'
    return (
        f'{{"ID":{number},"Name":"{WORDS[low & 15]} {WORDS[high >> 12]} {number}","City":"{CITIES[mixed % 12]}",'
        f'"Category":"{CATEGORIES[mixed % 15]}","Price":{high}.{low % 100:02},"Weight":{low / 64},"Stock":{low % 1000},'
        f'"IsActive":{"true" if mixed & 4 else "false"},'
        f'"Created":"20{10 + high % 16}-{1 + low % 12:02}-{1 + high % 28:02}T{low % 24:02}:{high % 60:02}:00Z",'
        f'"Released":"20{10 + low % 16}-{1 + high % 12:02}-{1 + low % 28:02}",'
        f'"Code":"{mixed:08x}-{low:04x}-4{high % 4096:03x}-8{low % 4096:03x}-{number:012x}","Note":{note}}}')


def page(folder, place, rows):
    return os.path.join(folder, f"rows-{rows}-{place}.json")


def write_pages(folder, rows):
    os.makedirs(folder, exist_ok=True)
    done = os.path.join(folder, f"rows-{rows}.done")
    if os.path.exists(done):
        return
    for place in range(0, rows, PAGE):
        last = min(place + PAGE, rows)
        with open(page(folder, place, rows), "w") as file:
            file.write('{"@odata.context":"$metadata#Rows","value":[')
            file.write(",".join(row(number) for number in range(place + 1, last + 1)))
            file.write("]")
            if last < rows:
                file.write(f',"@odata.nextLink":"Rows?$skiptoken={last}"}}')
    open(done, "w").close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folder, rows = "", 0

    def do_GET(self):
        path, _, query = self.path.partition("?")
        query = query.replace("%24", "$")
        tracks = "track-changes" in self.headers.get("Prefer", "")
        if path == "/service/$metadata":
            return self.respond(METADATA, "application/xml")
        if path != "/service/Rows":
            return self.respond(b'{"error":{"code":"404","message":"The only entity set is Rows."}}', status=404)
        delta = re.search(r"\$deltatoken=(\d+)", query)
        if delta:
            return self.respond(self.delta(int(delta[1])))
        token = re.search(r"\$skiptoken=(\d+)", query)
        self.page(int(token[1]) if token else 0, tracks or "tracked" in query)

    def page(self, place, tracks):
        end = b""
        if place + PAGE >= self.rows:
            end = b',"@odata.deltaLink":"Rows?$deltatoken=0"}' if tracks else b"}"
        with open(page(self.folder, place, self.rows), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not end and tracks:  # Only the first request has the preference; the links of later pages carry it.
                body = file.read()
                return self.respond(body[:-2] + b'&tracked=1"}', applied=True)
            self.head(size + len(end), applied=tracks)
            self.wfile.flush()
            sent = 0
            while sent < size:
                sent += os.sendfile(self.connection.fileno(), file.fileno(), sent, size - sent)
            self.wfile.write(end)

    def delta(self, place):
        count = DELTAS[place] if place < len(DELTAS) else 0
        step = max(1, self.rows // max(1, count))
        rows = ",".join(row(1 + number * step, place + 1) for number in range(min(count, self.rows)))
        link = f"Rows?$deltatoken={place + 1}"
        return f'{{"@odata.context":"$metadata#Rows/$delta","value":[{rows}],"@odata.deltaLink":"{link}"}}'.encode()

    def head(self, length, kind="application/json;odata.metadata=minimal", status=200, applied=False):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("OData-Version", "4.0")
        self.send_header("Content-Length", str(length))
        if applied:
            self.send_header("Preference-Applied", "odata.track-changes")
        self.end_headers()

    def respond(self, body, kind="application/json;odata.metadata=minimal", status=200, applied=False):
        self.head(len(body), kind, status, applied)
        self.wfile.write(body)

    def log_message(self, format, *arguments):
        pass


def main():
    Handler.folder, Handler.rows = sys.argv[1], int(sys.argv[2])
    write_pages(Handler.folder, Handler.rows)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
