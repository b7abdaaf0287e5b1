package import LarderHTTP

/// The part of a representation in a 206, if a cache can use it.
package struct ReceivedPart: Hashable, Sendable {
  /// The bytes of the representation that the content consists of.
  package let range: Range<Int>
  /// The whole representation's length in bytes; nil if it was not sent.
  package let length: Int?

  /// Creates a part from a range and a length.
  package init(range: Range<Int>, length: Int?) {
    self.range = range
    self.length = length
  }

  /// Reads the head of a 206. Nil if it has several parts, another unit or no valid `Content-Range`.
  package init?(status: Int, fields: HTTPFields) {
    guard status == 206, let text = fields[.contentRange], case .part(let range, let length)? = ContentRange(text)
    else { return nil }
    if let type = fields[.contentType], PartKind.isMultipart(type) { return nil }
    self.init(range: range, length: length)
  }

  /// True if the part is the whole representation.
  package var isWhole: Bool { length == range.upperBound && range.lowerBound == 0 }

  /// This part if only its first `count` bytes were received; nil if there are none, or more than were announced.
  package func prefix(_ count: Int) -> ReceivedPart? {
    guard count > 0, count <= range.count else { return nil }
    return ReceivedPart(range: range.lowerBound..<(range.lowerBound + count), length: length)
  }
}

private enum PartKind {
  /// Whether a type is `multipart/byteranges`, in any case, with or without parameters.
  static func isMultipart(_ type: String) -> Bool {
    type.utf8.prefix(20).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == Array("multipart/byteranges".utf8)
  }
}

extension CacheMetadata {
  /// The metadata to store for a 206, derived from those of its head (RFC 9111 §3.3).
  ///
  /// ``content`` replaces `Content-Range` and `Content-Length`. The status stays 206, or becomes 200 if the part is the
  /// whole. Nil if the part must not be stored.
  ///
  /// - Parameters:
  ///   - part: the received part, shortened by ``ReceivedPart/prefix(_:)`` if less than announced was received.
  ///   - request: the request's fields. A response to `If-Range` may lack fields that its client already has (RFC 9110
  ///     §15.3.7), so it is stored only in combination.
  package func storing(_ part: ReceivedPart, inResponseTo request: HTTPFields) -> CacheMetadata? {
    guard status == 206, !request.contains(.ifRange) else { return nil }
    return holding(ByteRangeSet([part.range]), length: part.length)
  }

  /// The metadata to store for a 200 whose content was interrupted after `count` bytes (RFC 9111 §3.3).
  ///
  /// Nil if it is of no use: nothing was received, no length was announced, or without a strong validator it cannot be
  /// completed.
  package func interrupted(after count: Int, _ rules: StoredRules) -> CacheMetadata? {
    guard status == 200, count > 0, StrongValidator(rules) != nil, !fields.contains("Transfer-Encoding") else {
      return nil
    }
    guard let text = fields[.contentLength], let length = CacheMetadata.contentLength(text), count < length else {
      return nil
    }
    return holding(ByteRangeSet([0..<count]), length: length)
  }

  /// This response with these bytes of it stored.
  func holding(_ storedRanges: ByteRangeSet, length: Int?) -> CacheMetadata {
    var metadata = self
    metadata.fields[.contentRange] = nil
    if let length, storedRanges.contains(0..<length) {
      metadata.status = 200
      metadata.content = .whole
      metadata.fields[.contentLength] = String(length)
    } else {
      metadata.status = 206
      metadata.content = .parts(storedRanges.ranges, length: length)
      metadata.fields[.contentLength] = nil
    }
    return metadata
  }

  /// Parses `Content-Length`. Several fields or elements with equal numbers count as that number (RFC 9110 §8.6).
  static func contentLength(_ text: String) -> Int? {
    var scanner = DigitScanner(text.utf8)
    var length: Int?
    repeat {
      scanner.skipBlanks()
      guard let number = scanner.number(), number < Int.max, length == nil || length == number else { return nil }
      length = number
      scanner.skipBlanks()
    } while scanner.take(0x2C)
    return scanner.isAtEnd ? length : nil
  }
}
