package import LarderHTTP

/// A 206 or 416 created from stored content: its head, and the sources of the pieces of its content.
package struct PartialResponse: Hashable, Sendable {
  /// A piece of the content, in order.
  package enum Piece: Hashable, Sendable {
    /// Bytes of the stored content, by their offsets in it as it is stored.
    case stored(Range<Int>)
    /// These bytes: the lines around a part of a multipart.
    case bytes([UInt8])
  }

  /// 206 or 416.
  package let status: Int
  /// The stored fields with those of the range; the caller must add `Age` and `Cache-Status`.
  package let fields: HTTPFields
  /// The content.
  package let pieces: [Piece]
  /// The content's length in bytes.
  package let length: Int

  /// A 206 with ranges of a representation of which the bytes `storedRanges` are stored; nil if one of the ranges is not.
  ///
  /// A single range is the content itself; several ranges are a `multipart/byteranges` (RFC 9110 §14.6).
  package init?(
    _ ranges: [Range<Int>], of metadata: CacheMetadata, storedRanges: ByteRangeSet, length: Int?,
    boundary: @autoclosure () -> String
  ) {
    let offsets = ranges.compactMap { storedRanges.offsets(of: $0) }
    guard offsets.count == ranges.count, let first = ranges.first else { return nil }
    var fields = metadata.fields
    if ranges.count == 1 {
      pieces = offsets.map { .stored($0) }
      fields[.contentRange] = ContentRange.part(first, length: length).text
    } else {
      let type = metadata.fields[.contentType]
      let boundary = boundary()
      var pieces: [Piece] = []
      for (place, range) in ranges.enumerated() {
        let lines = PartialResponse.head(range, length: length, type: type, boundary, isFirst: place == 0)
        pieces.append(.bytes(Array(lines.utf8)))
        pieces.append(.stored(offsets[place]))
      }
      pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
      self.pieces = pieces
      fields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
      // §15.3.7.2: the field is in each part, never in the head.
      fields[.contentRange] = nil
    }
    status = 206
    self.length = PartialResponse.length(of: pieces)
    fields[.contentLength] = String(self.length)
    self.fields = fields
  }

  private init(status: Int, fields: HTTPFields, pieces: [Piece]) {
    self.status = status
    self.fields = fields
    self.pieces = pieces
    length = PartialResponse.length(of: pieces)
  }

  /// A 416 for ranges that all lie outside a representation of `length` bytes (RFC 9110 §15.5.17).
  package static func unsatisfiable(_ metadata: CacheMetadata, length: Int) -> PartialResponse {
    var fields: HTTPFields = [
      .contentRange: ContentRange.unsatisfied(length: length).text, .contentLength: "0",
    ]
    fields[.date] = metadata.fields[.date]
    return PartialResponse(status: 416, fields: fields, pieces: [])
  }

  private static func head(
    _ range: Range<Int>, length: Int?, type: String?, _ boundary: String, isFirst: Bool
  ) -> String {
    let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
    let place = ContentRange.part(range, length: length).text
    return "\(isFirst ? "" : "\r\n")--\(boundary)\r\n\(type)Content-Range: \(place)\r\n\r\n"
  }

  private static func length(of pieces: [Piece]) -> Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .stored(let range): sum + range.count
      case .bytes(let bytes): sum + bytes.count
      }
    }
  }
}
