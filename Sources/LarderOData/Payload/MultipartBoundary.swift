extension MediaType {
  /// Whether a boundary can be read: 1 to 70 characters, the last not a space. RFC 2046 §5.1.1 allows fewer characters
  /// than services use: any visible ASCII is read, only the RFC's are written.
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
