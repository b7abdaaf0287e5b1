extension HTTPFields {
  /// The value of `Content-Length` (RFC 9110 §8.6); nil if it is absent.
  ///
  /// Several lines or list elements with the same valid number count as that number. Anything else is an error without
  /// recovery, because the end of the message is unknown: no number, a sign, a number that is larger than any content,
  /// or two numbers that differ (RFC 9112 §6.3).
  package func announcedLength() throws(HTTPTransportError) -> Int? {
    var length: Int?
    for value in values(of: .contentLength) {
      for element in value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        guard let number = HTTPFields.digits(element) else {
          throw .protocolViolation("Content-Length is not a number of bytes (RFC 9112 §6.3)")
        }
        guard length == nil || length == number else {
          throw .protocolViolation("Content-Length has two different values (RFC 9112 §6.3)")
        }
        length = number
      }
    }
    return length
  }

  /// Parses `1*DIGIT`, with white space around it; nil also if the number does not fit into an `Int`.
  private static func digits(_ text: Substring.UTF8View) -> Int? {
    var value: Int?
    var isOver = false
    for byte in text {
      switch byte {
      case 0x20, 0x09: isOver = isOver || value != nil
      case 0x30...0x39:
        let (ten, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
        let (sum, carry) = ten.addingReportingOverflow(Int(byte - 0x30))
        if overflow || carry || isOver { return nil }
        value = sum
      default: return nil
      }
    }
    return value
  }
}
