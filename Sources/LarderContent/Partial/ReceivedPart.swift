package import LarderHTTP

/// The part of a representation that a 206 carries, as far as a cache can use it.
package struct ReceivedPart: Hashable, Sendable {
  /// Which bytes of the representation the content is.
  package let range: Range<Int>
  /// The whole representation's length in bytes; nil where it was not said.
  package let length: Int?

  /// Joins a range and a length.
  package init(range: Range<Int>, length: Int?) {
    self.range = range
    self.length = length
  }

  /// Reads the head of a 206; nil where it has several parts, another unit or no valid `Content-Range`.
  package init?(status: Int, fields: HTTPFields) {
    guard status == 206, let text = fields[.contentRange], case .part(let range, let length)? = ContentRange(text)
    else { return nil }
    if let type = fields[.contentType], PartKind.isMultipart(type) { return nil }
    self.init(range: range, length: length)
  }

  /// True where the part is the whole representation.
  package var isWhole: Bool { length == range.upperBound && range.lowerBound == 0 }

  /// The part of which only the first `count` bytes have come; nil where there are none, or more than were announced.
  package func prefix(_ count: Int) -> ReceivedPart? {
    guard count > 0, count <= range.count else { return nil }
    return ReceivedPart(range: range.lowerBound..<(range.lowerBound + count), length: length)
  }
}

private enum PartKind {
  /// `multipart/byteranges` in any case, with or without parameters.
  static func isMultipart(_ type: String) -> Bool {
    type.utf8.prefix(20).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == Array("multipart/byteranges".utf8)
  }
}

extension CacheMetadata {
  /// The metadata to store for a 206, made from those of its head (RFC 9111 §3.3).
  ///
  /// `Content-Range` and `Content-Length` give way to ``content``; the status stays 206, or becomes 200 where the part is
  /// the whole. Nil where the part is not to be stored.
  ///
  /// - Parameters:
  ///   - part: what came, cut by ``ReceivedPart/prefix(_:)`` where that was less than announced.
  ///   - request: an answer to `If-Range` may lack fields that its client has already (RFC 9110 §15.3.7), so it is
  ///     stored only in combination.
  package func storing(_ part: ReceivedPart, answering request: HTTPFields) -> CacheMetadata? {
    guard status == 206, !request.contains(.ifRange) else { return nil }
    return holding(ByteRangeSet([part.range]), length: part.length)
  }

  /// The metadata to store for a 200 whose content broke off after `count` bytes (RFC 9111 §3.3).
  ///
  /// Nil where it is of no use: nothing came, no length was announced, or no strong validator lets it be completed.
  package func interrupted(after count: Int, _ rules: StoredRules) -> CacheMetadata? {
    guard status == 200, count > 0, StrongValidator(rules) != nil, !fields.contains("Transfer-Encoding") else {
      return nil
    }
    guard let text = fields[.contentLength], let length = CacheMetadata.contentLength(text), count < length else {
      return nil
    }
    return holding(ByteRangeSet([0..<count]), length: length)
  }

  /// The same response with these bytes of it stored.
  func holding(_ held: ByteRangeSet, length: Int?) -> CacheMetadata {
    var metadata = self
    metadata.fields[.contentRange] = nil
    if let length, held.contains(0..<length) {
      metadata.status = 200
      metadata.content = .whole
      metadata.fields[.contentLength] = String(length)
    } else {
      metadata.status = 206
      metadata.content = .parts(held.ranges, length: length)
      metadata.fields[.contentLength] = nil
    }
    return metadata
  }

  /// Several fields or elements with one and the same number are that number (RFC 9110 §8.6).
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
