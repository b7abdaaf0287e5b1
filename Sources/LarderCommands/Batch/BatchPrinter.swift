internal import LarderHTTP
internal import LarderOData

/// Prints the result of each request of a batch.
struct BatchPrinter {
  /// One request and its response; nil if the service ended the batch before it.
  struct Row {
    let part: String
    let request: BatchRequest?
    let response: BatchResponse?
  }

  /// One row for each request. A change set that failed as a whole is one row, and a request without a response has
  /// none.
  static func rows(_ results: [BatchResult?], _ parts: [BatchRequestPart]) -> [Row] {
    zip(parts, results).enumerated().flatMap { number, pair -> [Row] in
      let part = "\(number + 1)"
      let requests = pair.0.requests
      guard let result = pair.1 else { return [] }
      switch result {
      case .single(let response): return [Row(part: part, request: requests.first, response: response)]
      case .changeSet(let responses):
        return zip(requests, responses).enumerated().map { index, pair in
          Row(part: "\(part).\(index + 1)", request: pair.0, response: pair.1)
        }
      case .changeSetPartly(let responses):
        return zip(requests, responses).enumerated().compactMap { index, pair in
          pair.1.map { Row(part: "\(part).\(index + 1)", request: pair.0, response: $0) }
        }
      case .changeSetFailed(let response): return [Row(part: part, request: nil, response: response)]
      case .notProcessed: return [Row(part: part, request: requests.first, response: nil)]
      }
    }
  }

  /// Prints the rows as text: a line, then the payload, indented if the port is a terminal.
  static func write(_ rows: [Row], to port: OutputPort) throws(OutputError) {
    for row in rows {
      let title = row.request.map { "\($0.method) \($0.url)" } ?? "change set"
      var line = "\(row.part)  \(TerminalText.line(title))  "
      guard let response = row.response else {
        try port.line(port.style.bold(line) + "not processed")
        continue
      }
      line += "\(response.status)"
      if !response.body.isEmpty { line += "  \(response.body.count) bytes" }
      try port.line(port.style.bold(line))
      guard !response.body.isEmpty else { continue }
      if port.isTerminal, !TerminalText.isShowable(response.body) {
        try port.line("(binary content)")
      } else {
        let type = response.fields[.contentType]
        var body = port.isTerminal ? PayloadPrinter.indented(response.body, contentType: type) : response.body
        if body.last != 0x0A { body.append(0x0A) }
        try port.write(body)
      }
    }
  }

  /// Prints the rows as a JSON array: JSON content unchanged, other text as a string, bytes in base64.
  static func writeJSON(_ rows: [Row], to port: OutputPort) throws(OutputError) {
    var json = JSONOutput(port)
    json.beginArray()
    for row in rows {
      json.beginObject()
      json.member("part", row.part)
      json.member("method", row.request?.method.rawValue)
      json.member("url", row.request?.url)
      json.name("status")
      if let response = row.response { json.integer(response.status) } else { json.null() }
      if let response = row.response { write(response, to: &json) }
      json.endObject()
      try json.drain()
    }
    json.endArray()
    try json.endLine()
  }

  private static func write(_ response: BatchResponse, to json: inout JSONOutput) {
    json.member("contentID", response.id)
    json.member("headers", response.fields)
    guard !response.body.isEmpty else { return }
    if let node = try? JSONNode(response.body) {
      var writer = JSONWriter()
      writer.node(node)
      json.name("body")
      json.raw(String(decoding: writer.bytes, as: UTF8.self))
    } else if let text = String(validating: response.body, as: UTF8.self) {
      json.member("body", text)
    } else if let base64 = try? ODataValue.binary(response.body).text(isBase64URL: false) {
      json.member("bodyBase64", base64)
    }
  }
}
