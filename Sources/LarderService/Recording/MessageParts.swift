import LarderHTTP

/// The parts of a multipart message (RFC 2046 §5.1), with the delimiters between them as they are.
struct MessageParts {
  /// Delimiters and parts by turns; the first and the last one are delimiters.
  private var pieces: [(bytes: ArraySlice<UInt8>, isPart: Bool)] = []

  /// The boundary of content: of its media type, or, without one, of its first line.
  static func boundary(of type: String?, _ bytes: [UInt8]) -> [UInt8]? {
    guard let type else {
      // PEM and the like begin with more dashes.
      guard bytes.starts(with: "--".utf8), bytes.count > 2, bytes[2] != UInt8(ascii: "-") else { return nil }
      let line = bytes[2...].prefix { $0 > 0x20 }
      return line.isEmpty || line.count > 70 ? nil : Array(line)
    }
    let lower = type.lowercased()
    guard lower.hasPrefix("multipart/"), let start = lower.firstRange(of: "boundary=")?.upperBound else { return nil }
    let text = type.dropFirst(lower.distance(from: lower.startIndex, to: start)).drop { $0 == "\"" }
    let boundary = text.prefix { $0 != "\"" && $0 != ";" && $0 != " " }
    return boundary.isEmpty ? nil : Array(boundary.utf8)
  }

  init(_ bytes: [UInt8], boundary: [UInt8]) {
    let delimiter = Array("--".utf8) + boundary
    var start = 0
    var isInPart = false
    var line = 0
    while line < bytes.count {
      let end = (bytes[line...].firstIndex(of: 0x0A) ?? bytes.count - 1) + 1
      if bytes[line..<end].starts(with: delimiter) {
        // The line break before a delimiter belongs to it.
        var partEnd = line
        if isInPart, partEnd > start, bytes[partEnd - 1] == 0x0A { partEnd -= 1 }
        if isInPart, partEnd > start, bytes[partEnd - 1] == 0x0D { partEnd -= 1 }
        pieces.append((bytes[start..<partEnd], isInPart))
        pieces.append((bytes[partEnd..<end], false))
        let rest = bytes[(line + delimiter.count)..<end]
        isInPart = !rest.starts(with: "--".utf8)
        start = end
      }
      line = end
    }
    pieces.append((bytes[start...], isInPart))
  }

  /// The message with other parts.
  func joined(_ replacing: (ArraySlice<UInt8>) -> [UInt8]) -> [UInt8] {
    pieces.flatMap { $0.isPart ? replacing($0.bytes) : Array($0.bytes) }
  }
}

/// The lines of a message before its content.
struct MessageHead {
  struct Line {
    /// The line with its end.
    let bytes: [UInt8]
    /// Nil for a status line and the like.
    let field: HTTPField?

    func replacing(_ value: String) -> [UInt8] {
      let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
      return Array("\(field?.name.rawName ?? ""): \(value)".utf8) + bytes[end...]
    }
  }

  private(set) var lines: [Line] = []
  /// Where the content begins.
  private(set) var end = 0

  /// Nil if the bytes do not begin with lines of a head and an empty line.
  init?(_ bytes: [UInt8]) {
    while end < bytes.count {
      let next = (bytes[end...].firstIndex(of: 0x0A) ?? bytes.count - 1) + 1
      let text = bytes[end..<next].prefix { $0 != 0x0D && $0 != 0x0A }
      let isFirst = lines.isEmpty
      let colon = text.firstIndex(of: UInt8(ascii: ":"))
      var field: HTTPField?
      if let colon {
        let name = HTTPFieldName(String(decoding: text[..<colon], as: UTF8.self))
        let value = text[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        field = HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
      }
      guard text.isEmpty || field?.name.isValid ?? false || isFirst && text.starts(with: "HTTP/".utf8) else {
        return nil
      }
      lines.append(Line(bytes: Array(bytes[end..<next]), field: field?.name.isValid ?? false ? field : nil))
      end = next
      if text.isEmpty { return }
    }
    return nil
  }

  func value(of name: HTTPFieldName) -> String? { lines.lazy.compactMap(\.field).first { $0.name == name }?.value }
}
