/// A media type with its parameters (RFC 9110 §8.3.1): what a batch's framing needs of it.
struct BatchContentType {
  /// `type/subtype` in lower case.
  let mediaType: String
  private let parameters: [(name: String, value: String)]

  init(_ text: String) {
    var rest = Array(text.utf8)[...]
    mediaType = BatchContentType.trimmed(BatchContentType.take(&rest, until: UInt8(ascii: ";"))).lowercased()
    var parameters: [(String, String)] = []
    while !rest.isEmpty {
      let name = BatchContentType.trimmed(BatchContentType.take(&rest, until: UInt8(ascii: "=")))
      parameters.append((name.lowercased(), BatchContentType.value(&rest)))
    }
    self.parameters = parameters
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  var isMultipart: Bool { mediaType.hasPrefix("multipart/") }

  var isJSON: Bool { mediaType == "application/json" || mediaType.hasSuffix("+json") }

  /// What stands before a byte; the byte itself is taken and dropped.
  private static func take(_ rest: inout ArraySlice<UInt8>, until end: UInt8) -> ArraySlice<UInt8> {
    let part = rest.prefix { $0 != end }
    rest = rest.dropFirst(part.count + 1)
    return part
  }

  /// A parameter's value, quoted or not, and the semicolon behind it.
  private static func value(_ rest: inout ArraySlice<UInt8>) -> String {
    while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
    guard rest.first == UInt8(ascii: "\"") else { return trimmed(take(&rest, until: UInt8(ascii: ";"))) }
    rest.removeFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { value.append(escaped) } else { value.append(byte) }
    }
    _ = take(&rest, until: UInt8(ascii: ";"))
    return String(decoding: value, as: UTF8.self)
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String { MultipartLine.text(bytes) }

  /// True for 1 to 70 characters of RFC 2046 §5.1.1, the last no space. Services use a few more: any visible ASCII is
  /// read, the RFC's own are written.
  static func isReadableBoundary(_ boundary: String) -> Bool {
    (1...200).contains(boundary.utf8.count) && boundary.utf8.allSatisfy { (0x20...0x7E).contains($0) }
      && boundary.utf8.last != 0x20
  }

  static func isWritableBoundary(_ boundary: String) -> Bool {
    (1...50).contains(boundary.utf8.count)
      && boundary.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
      }
  }
}

/// Lines of headers, as bytes.
enum MultipartLine {
  /// The text without white space around it.
  static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
