import LarderHTTP

extension ScriptedServer {
  /// One step of a connection while it sends a response.
  enum Step: Sendable {
    case send([UInt8])
    case repeated([UInt8], times: Int)
    case drip([UInt8], every: Duration)
    case pass(Gate)
    case close
    case reset
    case hang
    case tunnel(port: Int)
  }
}

extension ScriptedServer.Response {
  typealias Step = ScriptedServer.Step

  /// What to do, in order, for a request of this method and version. Without `close` at the end the connection stays.
  func steps(for request: ScriptedServer.Request) -> [Step] {
    var steps: [Step] = paused.map { [.pass($0)] } ?? []
    steps += interim.map { .send($0) }
    switch form {
    case .message(let message): steps += message.steps(for: request)
    case .raw(let bytes, let closes): steps += closes ? [.send(bytes), .close] : [.send(bytes)]
    case .close: steps.append(.close)
    case .reset: steps.append(.reset)
    case .hang: steps.append(.hang)
    case .tunnel(let port): steps.append(.tunnel(port: port))
    }
    return steps
  }
}

extension ScriptedServer.Response.Message {
  func steps(for request: ScriptedServer.Request) -> [ScriptedServer.Step] {
    var fields = self.fields
    let chunked = frame(&fields)
    let head = ScriptedServer.head(version, status, fields)
    var steps: [ScriptedServer.Step] = headDrip.map { [.drip(head, every: $0)] } ?? [.send(head)]
    if request.method != .head && !isBodiless { steps += contentSteps(chunked: chunked) }
    let isLast = closesAfter || fields["Connection"]?.lowercased() == "close"
    if isLast { steps.append(.close) }
    return steps
  }

  private var isBodiless: Bool { status < 200 || status == 204 || status == 304 }

  /// Adds the field that frames the content, where the script does not; true for chunks.
  private func frame(_ fields: inout HTTPFields) -> Bool {
    if let coding = fields["Transfer-Encoding"] { return coding.lowercased().contains("chunked") }
    if fields.contains(.contentLength) || isBodiless { return false }
    switch content {
    case .bytes(let bytes): fields[.contentLength] = String(bytes.count)
    case .repeated(let pattern, let times): fields[.contentLength] = String(pattern.count * times)
    case .pieces:
      if version == "HTTP/1.0" { return false }
      fields["Transfer-Encoding"] = "chunked"
      return true
    }
    return false
  }

  private func contentSteps(chunked: Bool) -> [ScriptedServer.Step] {
    var steps: [ScriptedServer.Step] = []
    switch content {
    case .bytes(let bytes): steps.append(.send(chunked ? frame(bytes) + Array("0\r\n\r\n".utf8) : bytes))
    case .repeated(let pattern, let times): steps.append(.repeated(pattern, times: times))
    case .pieces(let pieces, let gate):
      for piece in pieces {
        if let gate { steps.append(.pass(gate)) }
        steps.append(.send(chunked ? frame(piece) : piece))
      }
      if let gate { steps.append(.pass(gate)) }
      if chunked { steps.append(.send(Array("0\r\n\r\n".utf8))) }
    }
    return truncation.map { truncate(steps, to: $0) } ?? steps
  }

  private func frame(_ piece: [UInt8]) -> [UInt8] {
    Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
  }

  private func truncate(_ steps: [ScriptedServer.Step], to count: Int) -> [ScriptedServer.Step] {
    var left = count
    var shortened: [ScriptedServer.Step] = []
    for step in steps {
      switch step {
      case .send(let bytes):
        shortened.append(.send(Array(bytes.prefix(left))))
        left -= min(left, bytes.count)
      case .repeated(let pattern, let times):
        let whole = min(times, left / max(pattern.count, 1))
        shortened.append(.repeated(pattern, times: whole))
        left -= whole * pattern.count
        if whole < times { shortened.append(.send(Array(pattern.prefix(left)))) }
        left = whole < times ? 0 : left
      default: shortened.append(step)
      }
      if left == 0 { break }
    }
    return shortened + [.close]
  }
}
