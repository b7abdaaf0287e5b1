/// The value of a `Range` field in bytes (RFC 9110 §14.1.2, §14.2).
package struct RangeField: Hashable, Sendable {
  /// One range as requested; both positions are included.
  package enum Spec: Hashable, Sendable {
    /// `first-last`, or `first-` with `Int.max`.
    case span(Int, through: Int)
    /// `-count`: the last bytes.
    case suffix(Int)
  }

  /// The meaning of the field for a representation of known length.
  package enum Resolution: Hashable, Sendable {
    /// The field is ignored: the whole representation is sent.
    case ignored
    /// No range lies within the representation: 416.
    case unsatisfiable
    /// The ranges, in the requested order; ranges that overlap, or nearly touch, are merged.
    case ranges([Range<Int>])
  }

  /// The maximum number of ranges. Fields with more are ignored, as §14.2 advises, because they are probably an attack.
  package static let limit = 64
  /// Ranges with a smaller gap between them are sent as one: a further part of a multipart costs more (§15.3.7.2).
  package static let partOverhead = 80

  /// The ranges in the requested order; at least one.
  package let specs: [Spec]

  /// Parses a field. Nil if it must be ignored: another unit, no ranges, malformed, or more ranges than the limit.
  ///
  /// Positions that are too large for an `Int` are treated as `Int.max`.
  package init?(_ text: String) {
    var scanner = DigitScanner(text.utf8)
    scanner.skipBlanks()
    guard scanner.takeBytesUnit(), scanner.take(0x3D) else { return nil }
    var specs: [Spec] = []
    repeat {
      scanner.skipBlanks()
      // A list may have empty elements (§5.6.1).
      if scanner.isAtEnd || scanner.next == 0x2C { continue }
      guard let spec = scanner.rangeSpec(), specs.count < RangeField.limit else { return nil }
      specs.append(spec)
      scanner.skipBlanks()
    } while scanner.take(0x2C)
    guard scanner.isAtEnd, !specs.isEmpty else { return nil }
    self.specs = specs
  }

  /// The ranges within a representation of `length` bytes.
  package func resolved(length: Int) -> Resolution {
    var ranges: [Range<Int>] = []
    for spec in specs {
      switch spec {
      case .suffix(let count):
        if count == 0 { continue }
        // §14.1.2: an empty suffix can only be satisfied by an empty range, for which there is no `Content-Range`.
        if length == 0 { return .ignored }
        ranges.append(max(0, length - count)..<length)
      case .span(let first, let last):
        if first < length { ranges.append(first..<(min(last, length - 1) + 1)) }
      }
    }
    return ranges.isEmpty ? .unsatisfiable : .ranges(RangeField.coalesced(ranges))
  }

  /// The ranges if the representation's length is unknown: those within `storedRanges`; nil if only the server can resolve
  /// them.
  package func resolved(within storedRanges: ByteRangeSet) -> [Range<Int>]? {
    var ranges: [Range<Int>] = []
    for spec in specs {
      guard case .span(let first, let last) = spec, last < Int.max, storedRanges.contains(first..<(last + 1)) else {
        return nil
      }
      ranges.append(first..<(last + 1))
    }
    let together = RangeField.coalesced(ranges)
    return together.allSatisfy(storedRanges.contains) ? together : ByteRangeSet(ranges).ranges
  }

  /// Merges ranges that overlap or nearly touch, at the place of the first of them (§15.3.7.2).
  static func coalesced(_ ranges: [Range<Int>]) -> [Range<Int>] {
    if ranges.count < 2 { return ranges }
    var groups: [(range: Range<Int>, place: Int)] = []
    for (place, range) in ranges.enumerated().sorted(by: { $0.element.lowerBound < $1.element.lowerBound }) {
      if let last = groups.last, range.lowerBound - last.range.upperBound < partOverhead {
        let upper = max(last.range.upperBound, range.upperBound)
        groups[groups.count - 1] = (last.range.lowerBound..<upper, min(last.place, place))
      } else {
        groups.append((range, place))
      }
    }
    return groups.sorted { $0.place < $1.place }.map(\.range)
  }
}

/// Scans the bytes of a `Range` or `Content-Range` field.
struct DigitScanner {
  private let bytes: String.UTF8View
  private var index: String.Index

  init(_ bytes: String.UTF8View) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  var next: UInt8? { index < bytes.endIndex ? bytes[index] : nil }
  var isAtEnd: Bool { index == bytes.endIndex }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    bytes.formIndex(after: &index)
    return true
  }

  mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 { bytes.formIndex(after: &index) }
  }

  /// Reads `bytes` in any case (RFC 9110 §14.1).
  mutating func takeBytesUnit() -> Bool {
    for expected in [0x62, 0x79, 0x74, 0x65, 0x73] as [UInt8] {
      guard let byte = next, byte | 0x20 == expected else { return false }
      bytes.formIndex(after: &index)
    }
    return true
  }

  /// Reads digits; `Int.max` for a number that is too large for an `Int`, nil if there are none.
  mutating func number() -> Int? {
    var value: Int?
    while let byte = next, (0x30...0x39).contains(byte) {
      let (ten, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, carry) = ten.addingReportingOverflow(Int(byte - 0x30))
      value = overflow || carry ? Int.max : sum
      bytes.formIndex(after: &index)
    }
    return value
  }

  /// Reads `first-last`, `first-` or `-count`; nil if it is malformed or the last position is before the first.
  mutating func rangeSpec() -> RangeField.Spec? {
    if take(0x2D) { return number().map { .suffix($0) } }
    guard let first = number(), take(0x2D) else { return nil }
    let last = number() ?? Int.max
    return first <= last ? .span(first, through: last) : nil
  }
}
