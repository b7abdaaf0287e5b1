import LarderHTTP

/// The head of a final response.
struct ResponseHead: Sendable, Equatable {
  var status: Int
  var fields: HTTPFields
  /// The content's length as the caller will read it.
  var length: Int?
  /// The content and transfer codings to decode, in the order in which they were applied.
  var codings: [ContentCoding] = []
  /// Whether no content can follow.
  var isBodiless: Bool
}

/// A complete head: of an interim or of the final response.
enum ReceivedHead: Sendable, Equatable {
  case interim(HTTPInterimResponse)
  case final(ResponseHead)
}

/// Parses the head from the lines that libcurl passes one by one. No I/O.
///
/// States: before a status line; in the fields; complete (trailer fields that follow later are dropped). An interim
/// response (1xx) returns to the first state; 100 (Continue) is meant for the sending client, so it is dropped.
struct ResponseHeadParser {
  private enum Phase { case start, fields, complete }

  /// The longest head in bytes. A longer one is treated as an attack.
  private static let byteLimit = 1 << 20

  private let method: HTTPMethod
  private let decodes: Bool
  private var phase = Phase.start
  private var status = 0
  private var lines: [HTTPField] = []
  /// Whether the last line was a field, or continued one.
  private var continuesField = false
  private var byteCount = 0

  init(method: HTTPMethod, decodes: Bool) {
    self.method = method
    self.decodes = decodes
  }

  /// Parses one line with its line end; returns the head if this was its last line.
  mutating func parse(_ line: some Collection<UInt8>) throws(HTTPTransportError) -> ReceivedHead? {
    byteCount += line.count
    if byteCount > ResponseHeadParser.byteLimit { throw .protocolViolation("the response head is larger than 1 MiB") }
    let text = Array(line).trimmed
    switch phase {
    case .complete: return nil
    case .start:
      try parseStatusLine(text)
      return nil
    case .fields:
      // A line that contains only white space continues the value before it; it does not end the head.
      guard line.first == 0x0D || line.first == 0x0A else {
        addField(text, continues: line.first == 0x20 || line.first == 0x09)
        return nil
      }
      if (100..<200).contains(status) {
        phase = .start
        return status == 100 ? nil : .interim(HTTPInterimResponse(status: status, fields: HTTPFields(lines)))
      }
      phase = .complete
      return .final(try head())
    }
  }

  private mutating func parseStatusLine(_ line: [UInt8]) throws(HTTPTransportError) {
    if line.isEmpty { return }
    let words = line.split(separator: 0x20, maxSplits: 2)
    guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3,
      let status = Int(String(decoding: words[1], as: UTF8.self)), (100...999).contains(status)
    else { throw .protocolViolation("the status line is malformed") }
    // Another protocol would follow it, and no request asks for one (RFC 9110 §15.2.2).
    if status == 101 { throw .protocolViolation("unexpected status 101 (Switching Protocols)") }
    self.status = status
    lines = []
    continuesField = false
    phase = .fields
  }

  /// A line that starts with white space continues the value before it (RFC 9112 §5.2). After the status line, and
  /// after a line that is no field, it is dropped (§2.2).
  private mutating func addField(_ line: [UInt8], continues: Bool) {
    if continues {
      if continuesField, !line.isEmpty, let last = lines.indices.last {
        lines[last].value += (lines[last].value.isEmpty ? "" : " ") + ResponseHeadParser.text(line)
      }
      return
    }
    continuesField = false
    guard let colon = line.firstIndex(of: 0x3A) else { return }
    continuesField = true
    let name = HTTPFieldName(ResponseHeadParser.text(Array(line[..<colon]).trimmed))
    lines.append(HTTPField(name: name, value: ResponseHeadParser.text(Array(line[(colon + 1)...]).trimmed)))
  }

  private static func text(_ bytes: [UInt8]) -> String { HTTPField.text(of: bytes) }

  private func head() throws(HTTPTransportError) -> ResponseHead {
    var fields = HTTPFields(lines)
    let neverHasContent = method == .head || status == 204 || status == 304
    var length = try ResponseHeadParser.length(&fields, neverHasContent: neverHasContent)
    let transferCodings = try neverHasContent ? [] : ContentCoding.transferCodings(in: fields)
    if !transferCodings.isEmpty { fields["Transfer-Encoding"] = "chunked" }
    var codings: [ContentCoding] = []
    if decodes && !neverHasContent && status != 206, let contentCodings = try ContentCoding.codings(in: fields),
      !contentCodings.isEmpty
    {
      fields[.contentEncoding] = nil
      // Empty content stays empty.
      if length != 0 {
        codings = contentCodings
        fields[.contentLength] = nil
        length = nil
      }
    }
    return ResponseHead(
      status: status, fields: fields, length: length, codings: codings + transferCodings, isBodiless: length == 0)
  }

  /// The content's length (RFC 9112 §6.3). Its field is normalized to one number, or removed if it does not apply.
  private static func length(
    _ fields: inout HTTPFields, neverHasContent: Bool
  ) throws(HTTPTransportError) -> Int? {
    // Transfer-Encoding overrides Content-Length, and a proxy must not forward it.
    if fields.contains("Transfer-Encoding") { fields[.contentLength] = nil }
    do throws(HTTPTransportError) {
      let length = try fields.announcedLength()
      if let length { fields[.contentLength] = String(length) }
      return neverHasContent ? 0 : length
    } catch {
      // If the response has no content, a wrong length does not matter for its end.
      guard neverHasContent else { throw error }
      fields[.contentLength] = nil
      return 0
    }
  }
}

extension [UInt8] {
  /// The bytes without white space and line end on either side.
  fileprivate var trimmed: [UInt8] {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
      return []
    }
    return Array(self[first...last])
  }
}
