import LarderHTTP

extension ScriptedServer {
  /// One connection: reads requests and sends the scripted responses, until one side closes it.
  struct Connection {
    let number: Int
    let socket: Socket
    let waker: Waker
    let server: ScriptedServer

    /// The connection has ended or must end.
    private struct Ended: Error {}

    func run() {
      var buffer = ArraySlice<UInt8>()
      var served = 0
      do {
        while let head = try readHead(&buffer) {
          let goesOn = try response(head, served: served, &buffer)
          guard goesOn else { return }
          served += 1
        }
      } catch {
        // The reason is in `faults` already; the peer sees the connection end.
      }
    }

    private func response(_ head: Head, served: Int, _ buffer: inout ArraySlice<UInt8>) throws -> Bool {
      if let early = earlyResponse(head, served: served) {
        _ = try play(early.response, for: early.request)
        return false
      }
      let (body, length) = try readContent(head, &buffer)
      let request = server.record { head.request(index: $0, number, served, body: body, length: length) }
      guard try play(server.handler(request), for: request) else { return false }
      let connection = request.fields["Connection"]?.lowercased() ?? ""
      return request.version == "HTTP/1.1" ? connection != "close" : connection == "keep-alive"
    }

    private func earlyResponse(_ head: Head, served: Int) -> (request: Request, response: Response)? {
      guard let onHead = server.options.onHead else { return nil }
      let seen = head.request(index: server.requests.count, number, served, body: [], length: 0)
      guard let response = onHead(seen) else { return nil }
      let request = server.record { head.request(index: $0, number, served, body: [], length: 0) }
      return (request, response)
    }

    // Reading

    private func readHead(_ buffer: inout ArraySlice<UInt8>) throws -> Head? {
      while true {
        if let end = Head.end(in: buffer) {
          let bytes = buffer[..<end]
          buffer = buffer[end...]
          if let head = Head(bytes) { return head }
          return try fault("no HTTP request: \(String(decoding: bytes.prefix(80), as: UTF8.self))")
        }
        if buffer.count > 1 << 20 { return try fault("a request head of more than 1 MiB") }
        if try !fill(&buffer) { return buffer.isEmpty ? nil : try fault("a truncated request head") }
      }
    }

    private func fault<T>(_ text: String) throws -> T {
      server.note(fault: text)
      throw Ended()
    }

    /// Adds what the peer sends next; false at its end.
    private func fill(_ buffer: inout ArraySlice<UInt8>) throws -> Bool {
      guard let bytes = socket.receive(or: waker, stop: { server.isStopped }) else { throw Ended() }
      if bytes.isEmpty { return false }
      buffer = ArraySlice(Array(buffer) + bytes)
      return true
    }

    private func readContent(_ head: Head, _ buffer: inout ArraySlice<UInt8>) throws -> ([UInt8], Int) {
      if head.fields["Expect"]?.lowercased() == "100-continue" {
        try send(ScriptedServer.head("HTTP/1.1", 100, [:]))
      }
      var content = Content(keeps: server.options.keepsContent)
      if head.fields["Transfer-Encoding"]?.lowercased().contains("chunked") ?? false {
        try readChunks(&buffer, into: &content)
      } else if let text = head.fields[.contentLength] {
        guard let length = Int(text), length >= 0 else { return try fault("a bad Content-Length: \(text)") }
        try read(length, from: &buffer, into: &content)
      }
      return (content.bytes, content.count)
    }

    private func read(_ length: Int, from buffer: inout ArraySlice<UInt8>, into content: inout Content) throws {
      var left = length
      while left > 0 {
        if let gate = server.options.contentGate { try pass(gate) }
        if buffer.isEmpty, try !fill(&buffer) {
          return try fault("request content that is \(left) bytes too short")
        }
        let piece = buffer.prefix(min(left, 1 << 16))
        content.take(piece)
        left -= piece.count
        buffer = buffer.dropFirst(piece.count)
      }
    }

    private func readChunks(_ buffer: inout ArraySlice<UInt8>, into content: inout Content) throws {
      while true {
        let line = try readLine(&buffer)
        guard let size = Int(line.prefix { $0 != ";" }, radix: 16), size >= 0 else {
          return try fault("a bad chunk size: \(line)")
        }
        if size == 0 { break }
        try read(size, from: &buffer, into: &content)
        guard try readLine(&buffer).isEmpty else { return try fault("a chunk longer than its size") }
      }
      while try !readLine(&buffer).isEmpty {}
    }

    private func readLine(_ buffer: inout ArraySlice<UInt8>) throws -> String {
      while true {
        if let feed = buffer.firstIndex(of: 0x0A) {
          let line = buffer[..<feed]
          buffer = buffer[(feed + 1)...]
          return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
        if try !fill(&buffer) { return try fault("truncated chunked content") }
      }
    }

    // Responding

    /// True if the connection stays open.
    private func play(_ response: Response, for request: Request) throws -> Bool {
      for step in response.steps(for: request) {
        switch step {
        case .send(let bytes): try send(bytes)
        case .repeated(let pattern, let times): for _ in 0..<times { try send(pattern) }
        case .drip(let bytes, let pause):
          for byte in bytes {
            if !socket.staysOpen(for: pause, or: waker, stop: { server.isStopped }) { throw Ended() }
            try send([byte])
          }
        case .pass(let gate): try pass(gate)
        case .hang: while socket.staysOpen(for: nil, or: waker, stop: { server.isStopped }) {}
        case .tunnel(let port): try tunnel(to: port)
        case .reset:
          socket.resetOnClose()
          return false
        case .close: return false
        }
        if case .hang = step { return false }
        if case .tunnel = step { return false }
      }
      return true
    }

    private func send(_ bytes: [UInt8]) throws {
      if !socket.send(bytes, or: waker, stop: { server.isStopped }) { throw Ended() }
    }

    private func pass(_ gate: Gate) throws {
      gate.arrive(waker)
      defer { gate.leave(waker) }
      while !gate.tryPass() {
        if !socket.staysOpen(for: nil, or: waker, stop: { server.isStopped }) { throw Ended() }
      }
    }

    private func tunnel(to port: Int) throws {
      guard let other = Socket.connect(toPort: port) else {
        return try send(ScriptedServer.head("HTTP/1.1", 502, ["Content-Length": "0"]))
      }
      defer { other.close() }
      try send(ScriptedServer.head("HTTP/1.1", 200, [:]))
      while true {
        switch Socket.firstReadable(socket, other, or: waker, stop: { server.isStopped }) {
        case .first: if try !carry(from: socket, to: other) { return }
        case .second: if try !carry(from: other, to: socket) { return }
        case .stopped: return
        }
      }
    }

    private func carry(from source: Socket, to sink: Socket) throws -> Bool {
      guard let bytes = source.receive(or: waker, stop: { server.isStopped }), !bytes.isEmpty else { return false }
      return sink.send(bytes, or: waker, stop: { server.isStopped })
    }
  }

  private struct Content {
    let keeps: Bool
    var bytes: [UInt8] = []
    var count = 0

    init(keeps: Bool) { self.keeps = keeps }

    mutating func take(_ piece: ArraySlice<UInt8>) {
      count += piece.count
      if keeps { bytes.append(contentsOf: piece) }
    }
  }

  /// A request's line and fields.
  struct Head {
    let method: HTTPMethod
    let target: String
    let version: String
    let fields: HTTPFields

    /// The index behind the empty line.
    static func end(in bytes: ArraySlice<UInt8>) -> Int? {
      var index = bytes.startIndex
      while let carriage = bytes[index...].firstIndex(of: 0x0D) {
        if bytes[carriage...].starts(with: [0x0D, 0x0A, 0x0D, 0x0A]) { return carriage + 4 }
        index = carriage + 1
      }
      return nil
    }

    init?(_ bytes: ArraySlice<UInt8>) {
      let lines = HTTPField.text(of: bytes.dropLast(4)).split(
        separator: "\r\n", omittingEmptySubsequences: false)
      let words = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
      guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
      method = HTTPMethod(rawValue: String(words[0]))
      target = String(words[1])
      version = String(words[2])
      var fields = HTTPFields()
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        fields.append(HTTPFieldName(String(line[..<colon])), String(value))
      }
      self.fields = fields
    }

    func request(index: Int, _ connection: Int, _ served: Int, body: [UInt8], length: Int) -> Request {
      Request(
        method: method, target: target, version: version, fields: fields, body: body, contentLength: length,
        index: index, connection: connection, indexOnConnection: served)
    }
  }
}
