package import LarderCore
import LarderHTTP

// The layout of version 1. Numbers are LEB128, little-endian groups of seven bits; signed ones are zigzag-encoded
// (0, -1, 1, -2 …) before. A text is its length in bytes and its UTF-8. A list is its count and its elements.
//
//   version           one byte: 1
//   flags             one byte: Flags below, the others 0
//   status            signed
//   requestTime       eight bytes, little-endian
//   responseTime      eight bytes, little-endian
//   url               text
//   fields            list of (name, value)
//   selecting         list of (name, value)
//   groups            list of (name text, generation text)
//   variants          list of (key text, names list of text, selecting list, etag, date eight bytes)
//   parts             if its flag is set: list of (lower, upper), then the length if its flag is set
//   hiddenBy          if its flag is set: signed
//
// A field's name is a number: 0 and a text, or 1 + 2 × its place in FieldNameTable, + 1 if it is in lower case.
// An etag is 0 for nil, or 1 and a text.
extension CacheMetadata {
  /// The version that ``encoded()`` writes.
  package static let encodingVersion: UInt8 = 1

  /// The metadata as bytes, for a cache of any kind to store. The encoding is compact, and equal for equal values.
  ///
  /// ``init(encoded:)`` decodes it.
  public func encoded() -> [UInt8] {
    var writer = MetadataWriter(capacity: 96 + url.utf8.count + fields.count &* 32)
    writer.byte(CacheMetadata.encodingVersion)
    writer.byte(flags.rawValue)
    writer.signed(Int64(status))
    writer.fixed(requestMilliseconds)
    writer.fixed(responseMilliseconds)
    writer.text(url)
    writer.fields(fields)
    writer.fields(selecting)
    writer.number(UInt64(groups.count))
    for group in groups {
      writer.text(group.name)
      writer.text(group.generation)
    }
    writer.number(UInt64(variants.count))
    for variant in variants { writer.variant(variant) }
    if case .parts(let ranges, let length) = content {
      writer.number(UInt64(ranges.count))
      for range in ranges {
        writer.signed(Int64(range.lowerBound))
        writer.signed(Int64(range.upperBound))
      }
      if let length { writer.signed(Int64(length)) }
    }
    if let hiddenBy { writer.signed(Int64(hiddenBy)) }
    return writer.bytes
  }

  /// Decodes metadata from the bytes of ``encoded()``.
  ///
  /// Any bytes may be given; nil for bytes that are not an encoding. The time and memory depend on the number of given
  /// bytes, not on the lengths that they claim.
  public init?(encoded bytes: [UInt8]) {
    guard let decoded = try? CacheMetadata(decoding: bytes) else { return nil }
    self = decoded
  }

  /// Decodes metadata from the bytes of ``encoded()``. The error says what is wrong and where.
  package init(decoding bytes: [UInt8]) throws(DecodingError) {
    let decoded: Result<CacheMetadata, DecodingError> = unsafe bytes.withUnsafeBytes { raw in
      do throws(DecodingError) {
        return .success(try unsafe CacheMetadata(decoding: raw))
      } catch {
        return .failure(error)
      }
    }
    self = try decoded.get()
  }

  /// Decodes all bytes of a buffer, which is read during this call alone.
  package init(decoding raw: UnsafeRawBufferPointer) throws(DecodingError) {
    var reader = unsafe MetadataReader(raw)
    guard try reader.byte() == CacheMetadata.encodingVersion else { throw DecodingError(.version, at: 0) }
    let flags = Flags(rawValue: try reader.byte())
    guard flags.isSubset(of: .all) else { throw DecodingError(.flags, at: 1) }
    status = try reader.int()
    requestMilliseconds = try reader.fixed()
    responseMilliseconds = try reader.fixed()
    url = try reader.text()
    fields = try reader.fields()
    selecting = try reader.fields()
    isInvalidated = flags.contains(.invalidated)
    groups = []
    for _ in 0..<(try reader.count(leastBytesEach: 2)) {
      groups.append(CacheGroup(name: try reader.text(), generation: try reader.text()))
    }
    variants = []
    for _ in 0..<(try reader.count(leastBytesEach: 12)) { variants.append(try reader.variant()) }
    content = .whole
    if flags.contains(.parts) {
      let ranges = try reader.ranges()
      content = .parts(ranges, length: flags.contains(.lengthKnown) ? try reader.length() : nil)
    }
    hiddenBy = flags.contains(.hidden) ? try reader.int() : nil
    try reader.end()
  }

  /// Why bytes are not encoded metadata.
  package struct DecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: Sendable, Hashable {
      /// The bytes end too early.
      case cutOff
      /// The bytes begin with a version that this code does not know.
      case version
      /// The bytes contain flags that this version does not have.
      case flags
      /// A number is larger than its type, or a count larger than the remaining bytes could hold.
      case number
      /// A text is not UTF-8.
      case text
      /// Ranges are negative, out of order or overlap.
      case ranges
      /// Bytes remain after the end.
      case tail
    }

    /// What is wrong.
    package let reason: Reason
    /// The position of the error, in bytes from the start.
    package let offset: Int

    init(_ reason: Reason, at offset: Int) {
      self.reason = reason
      self.offset = offset
    }

    /// What is wrong and where.
    package var description: String { explanation.description }

    /// What is wrong, where, and how to fix it.
    package var explanation: ErrorExplanation {
      let problem =
        switch reason {
        case .cutOff: "the data is truncated"
        case .version: "unknown version"
        case .flags: "unknown flags"
        case .number: "a number is too large"
        case .text: "a string is not UTF-8"
        case .ranges: "ranges are negative, out of order or overlap"
        case .tail: "unexpected bytes follow the metadata"
        }
      return ErrorExplanation(
        "The cached metadata cannot be decoded: \(problem) at byte \(offset).",
        cure: "Remove the entry and download the resource again.")
    }
  }

  struct Flags: OptionSet {
    var rawValue: UInt8
    static let invalidated = Flags(rawValue: 1)
    static let parts = Flags(rawValue: 2)
    static let lengthKnown = Flags(rawValue: 4)
    static let hidden = Flags(rawValue: 8)
    static let all: Flags = [.invalidated, .parts, .lengthKnown, .hidden]
  }

  private var flags: Flags {
    var flags: Flags = isInvalidated ? .invalidated : []
    if case .parts(_, let length) = content {
      flags.insert(.parts)
      if length != nil { flags.insert(.lengthKnown) }
    }
    if hiddenBy != nil { flags.insert(.hidden) }
    return flags
  }
}

/// Encodes metadata, part by part.
private struct MetadataWriter {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func number(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func signed(_ value: Int64) {
    number(UInt64(bitPattern: value &<< 1) ^ UInt64(bitPattern: value &>> 63))
  }

  mutating func fixed(_ value: Int64) {
    let bits = UInt64(bitPattern: value)
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: bits &>> shift)) }
  }

  mutating func text(_ value: String) {
    number(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  mutating func fields(_ fields: HTTPFields) {
    number(UInt64(fields.count))
    for field in fields {
      if let code = FieldNameTable.code(of: field.name) {
        number(code)
      } else {
        number(0)
        text(field.name.rawName)
      }
      text(field.value)
    }
  }

  mutating func variant(_ variant: CacheVariant) {
    text(variant.key)
    number(UInt64(variant.names.count))
    for name in variant.names { text(name) }
    fields(variant.selecting)
    number(variant.etag == nil ? 0 : 1)
    if let etag = variant.etag { text(etag) }
    fixed(variant.dateMilliseconds)
  }
}

extension CacheMetadata.DecodingError: LarderError {
  /// The stable number, from 1 in the order of the reasons.
  package var errorIdentity: ErrorIdentity {
    switch reason {
    case .cutOff: ErrorIdentity(1, "cutOff", .invalidData)
    case .version: ErrorIdentity(2, "version", .invalidData)
    case .flags: ErrorIdentity(3, "flags", .invalidData)
    case .number: ErrorIdentity(4, "number", .invalidData)
    case .text: ErrorIdentity(5, "text", .invalidData)
    case .ranges: ErrorIdentity(6, "ranges", .invalidData)
    case .tail: ErrorIdentity(7, "tail", .invalidData)
    }
  }
}
