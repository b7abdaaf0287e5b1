/// A media type with its parameters (RFC 9110 §8.3.1).
package struct MediaType {
  /// `type/subtype` in lower case.
  let mediaType: String
  private let parameters: [(name: String, value: String)]

  /// Reads a media type, such as the value of a `Content-Type` field.
  package init(_ text: String) {
    var rest = Array(text.utf8)[...]
    mediaType = MediaType.trimmed(MediaType.take(&rest, until: UInt8(ascii: ";"))).lowercased()
    var parameters: [(String, String)] = []
    while !rest.isEmpty {
      let name = MediaType.trimmed(MediaType.take(&rest, until: UInt8(ascii: "=")))
      parameters.append((name.lowercased(), MediaType.value(&rest)))
    }
    self.parameters = parameters
  }

  /// The value of a parameter, by its name in lower case.
  package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  var isMultipart: Bool { mediaType.hasPrefix("multipart/") }

  var isJSON: Bool { mediaType == "application/json" || mediaType.hasSuffix("+json") }

  /// Returns the text before a byte, and removes both.
  private static func take(_ rest: inout ArraySlice<UInt8>, until end: UInt8) -> ArraySlice<UInt8> {
    let part = rest.prefix { $0 != end }
    rest = rest.dropFirst(part.count + 1)
    return part
  }

  /// Removes and returns a parameter's value, quoted or not, with the semicolon after it.
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
}
