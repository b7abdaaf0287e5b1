internal import LarderHTTP
internal import LarderOData
internal import LarderODataXML
internal import LarderService

/// A payload from a file: content alone, or a complete response with its status line and header fields.
struct RecordedPayload {
  /// The response's fields; empty for content alone.
  var fields = HTTPFields()
  /// The response's status code; nil for content alone.
  var status: Int?
  /// The content.
  var content: [UInt8]

  /// Parses a file's bytes. If they begin with `HTTP/`, there is a header, which ends with an empty line. If there are
  /// several headers, as after a redirection, the last one counts.
  init(_ bytes: [UInt8]) {
    content = bytes
    while content.starts(with: "HTTP/".utf8), readHead() {}
  }

  /// Removes the header from the content; false if it has no end.
  private mutating func readHead() -> Bool {
    let bytes = content
    var lines: [String] = []
    var start = 0
    for index in bytes.indices where bytes[index] == 0x0A {
      var line = bytes[start..<index]
      if line.last == 0x0D { line.removeLast() }
      start = index + 1
      guard !line.isEmpty else {
        content = Array(bytes[start...])
        fields = HTTPFields()
        status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
          fields.append(HTTPFieldName(String(line[..<colon])), String(value))
        }
        return true
      }
      lines.append(String(decoding: line, as: UTF8.self))
    }
    return false
  }

  /// A description of the status, if no complete payload need follow; nil if the content is a payload.
  var outcome: String? {
    switch status {
    case nil: nil
    case 202: "accepted"
    case 204: "noContent"
    case 206: "partialContent"
    case 304: "notModified"
    case let status?: status >= 300 && content.isEmpty ? "empty" : nil
    }
  }

  /// Whether the content is a complete payload.
  var hasPayload: Bool { outcome == nil || status == 202 && !content.isEmpty }

  /// Reads the content.
  ///
  /// - Parameters:
  ///   - contentType: the format; nil decides by the fields, then by the first character.
  ///   - url: the request's URL, which determines the type of the payload if the payload does not.
  func read(contentType: String?, model: EdmModel?, url: String?) throws -> ODataPayload {
    let type = contentType ?? fields[.contentType]
    let headerVersion = (fields[.odataVersion] ?? fields[.dataServiceVersion]).flatMap(ODataVersion.init(header:))
    let options = PayloadOptions(
      model: model, url: url, status: status, version: headerVersion ?? model?.version, contentType: type)
    switch Self.format(type, content) {
    case .json: return try ODataPayload(json: content, options: options)
    case .text: return try ODataPayload(countText: content)
    case .xml: return try ODataPayload(atom: content, model: model, type: options.expectedType?.description)
    case .batch:
      throw CommandFailure(
        .storage, "this is a multipart batch, not one payload",
        hint: "Pass its parts one by one: the content after the empty line that follows each 'HTTP/1.1 …'.")
    case .unknown(let type):
      throw CommandFailure(
        .storage, "the content type \(type) is not a format of OData",
        hint: "Specify one, such as --content-type application/json.")
    }
  }

  private enum Format {
    case json, xml, text, batch
    case unknown(String)
  }

  private static func format(_ type: String?, _ content: [UInt8]) -> Format {
    guard let type else {
      if isBatch(content) { return .batch }
      // In UTF-16 (XML 1.0 §4.3.3), the mark and the zero halves of ASCII characters are skipped too.
      let byteOrderMarkBytes: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF]
      switch content.first(where: { $0 > 0x20 && !byteOrderMarkBytes.contains($0) }) ?? 0 {
      case UInt8(ascii: "<"): return .xml
      case UInt8(ascii: "0")...UInt8(ascii: "9"): return .text
      default: return .json
      }
    }
    let mediaType = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    if mediaType == "application/json" || mediaType.hasSuffix("+json") || mediaType == "text/json" { return .json }
    if mediaType == "application/xml" || mediaType.hasSuffix("+xml") || mediaType == "text/xml" { return .xml }
    if mediaType.hasPrefix("multipart/") { return .batch }
    return mediaType == "text/plain" ? .text : .unknown(mediaType)
  }

  /// True if the first line begins with two hyphens or more (RFC 2046 §5.1.1); negative numbers have one hyphen.
  private static func isBatch(_ content: [UInt8]) -> Bool {
    content.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }.starts(with: "--".utf8)
  }
}
