import LarderHTTP

/// The head of a final answer.
struct ResponseHead: Sendable, Equatable {
  var status: Int
  var fields: HTTPFields
  /// The content's length as the caller will read it.
  var length: Int?
  /// What is to be undone of content and transfer codings, in the order in which it was applied.
  var codings: [ContentCoding] = []
  /// True where no content can follow.
  var isBodiless: Bool
}

/// What a whole head is of.
enum ReceivedHead: Sendable, Equatable {
  case interim(HTTPInterimResponse)
  case final(ResponseHead)
}

/// Builds the head from the lines that libcurl hands over one by one. Pure.
///
/// States: before a status line; in the fields; complete (trailer fields that come later are dropped). An interim
/// response (1xx) leads back to the first state; 100 (Continue) is meant for the client that sends, so it is dropped.
struct ResponseHeadParser {
  private enum Phase { case start, fields, complete }

  /// More than this is no answer but an attack.
  private static let byteLimit = 1 << 20

  private let method: HTTPMethod
  private let decodes: Bool
  private var phase = Phase.start
  private var status = 0
  private var lines: [HTTPField] = []
  /// The last line was a field, or continued one.
  private var continuesField = false
  private var byteCount = 0

  init(method: HTTPMethod, decodes: Bool) {
    self.method = method
    self.decodes = decodes
  }

  /// Takes one line with its end; returns the head where this was its last line.
  mutating func take(_ line: some Collection<UInt8>) throws(HTTPTransportError) -> ReceivedHead? {
    byteCount += line.count
    if byteCount > ResponseHeadParser.byteLimit { throw .protocolViolation("the answer's head is larger than 1 MiB") }
    let text = Array(line).trimmed
    switch phase {
    case .complete: return nil
    case .start:
      try begin(text)
      return nil
    case .fields:
      // A line of white space alone continues the value before it, and ends nothing.
      guard line.first == 0x0D || line.first == 0x0A else {
        add(text, continues: line.first == 0x20 || line.first == 0x09)
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

  private mutating func begin(_ line: [UInt8]) throws(HTTPTransportError) {
    if line.isEmpty { return }
    let words = line.split(separator: 0x20, maxSplits: 2)
    guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3,
      let status = Int(String(decoding: words[1], as: UTF8.self)), (100...999).contains(status)
    else { throw .protocolViolation("the status line is not readable") }
    // What follows it would be another protocol, and no request asks for one (RFC 9110 §15.2.2).
    if status == 101 { throw .protocolViolation("101 (Switching Protocols) came unasked") }
    self.status = status
    lines = []
    continuesField = false
    phase = .fields
  }

  /// A line that starts with white space continues the value before it (RFC 9112 §5.2); behind the status line, and behind
  /// a line that is no field, it is dropped (§2.2).
  private mutating func add(_ line: [UInt8], continues: Bool) {
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
    if decodes && !neverHasContent && status != 206, let known = try ContentCoding.codings(in: fields), !known.isEmpty {
      fields[.contentEncoding] = nil
      // Empty content stays empty.
      if length != 0 {
        codings = known
        fields[.contentLength] = nil
        length = nil
      }
    }
    return ResponseHead(
      status: status, fields: fields, length: length, codings: codings + transferCodings, isBodiless: length == 0)
  }

  /// The content's length (RFC 9112 §6.3); the field that says it is left as one number, or out where it does not count.
  private static func length(
    _ fields: inout HTTPFields, neverHasContent: Bool
  ) throws(HTTPTransportError) -> Int? {
    // Transfer-Encoding overrides it, and whoever passes the answer on must not repeat it.
    if fields.contains("Transfer-Encoding") { fields[.contentLength] = nil }
    do throws(HTTPTransportError) {
      let length = try fields.announcedLength()
      if let length { fields[.contentLength] = String(length) }
      return neverHasContent ? 0 : length
    } catch {
      // Where the head is all there is, a wrong number says nothing of its end.
      guard neverHasContent else { throw error }
      fields[.contentLength] = nil
      return 0
    }
  }
}

extension [UInt8] {
  /// Without white space and line end on either side.
  fileprivate var trimmed: [UInt8] {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
      return []
    }
    return Array(self[first...last])
  }
}
