import LarderOData
import LarderService
import LarderStorage

/// The row that the decoders of one statement read. It is available while the statement is positioned on it.
@safe final class RowPlace {
  /// Valid inside the call that receives the row; nil outside.
  // One thread has the statement and its decoders, and nothing is called while the pointer is being read.
  @exclusivity(unchecked) fileprivate(set) var row: UnsafePointer<Row>?
  let writer: ResultWriter

  init(writer: ResultWriter) { self.writer = writer }

  /// Makes a row available to decoders while `body` runs.
  @inline(__always)
  func with<Value>(_ row: borrowing Row, _ body: () throws -> Value) rethrows -> Value {
    unsafe try withUnsafePointer(to: row) { pointer in
      unsafe self.row = unsafe pointer
      defer { unsafe self.row = nil }
      return try body()
    }
  }
}

/// Decodes an object directly from a row. The names of the members determine the columns.
final class RowDecoder: ODataDynamicDecoder {
  let scope: RowScope
  let place: RowPlace
  let parentPath: [any CodingKey]
  private var inner: [Int: RowDecoder] = [:]
  private var further: [ObjectIdentifier: RowDecoder] = [:]
  // The container that was requested last. It has no state and therefore serves all rows. It holds the decoder until
  // ``end()``.
  @exclusivity(unchecked) private var latest: CachedContainer?

  init(_ scope: RowScope, _ place: RowPlace, parentPath: [any CodingKey] = []) {
    (self.scope, self.place, self.parentPath) = (scope, place, parentPath)
  }

  var codingPath: [any CodingKey] { parentPath }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if let latest = unsafe latest, latest.key == ObjectIdentifier(type) {
      // A container with other keys has another identifier.
      return unsafe unsafeDowncast(latest, to: ContainerOfKeys<Key>.self).container
    }
    let cached = ContainerOfKeys(KeyedDecodingContainer(RowKeyedContainer<Key>(self, scope.places(of: type))))
    // A container that is requested after the last row is not kept.
    if unsafe place.row != nil { unsafe latest = cached }
    return cached.container
  }

  /// Ends a decoder of related entities that is not kept, because the kept decoder was positioned on a row.
  func endUnlessCached(_ decoder: RowDecoder, _ expand: RowExpand) {
    if further[ObjectIdentifier(expand)] !== decoder { decoder.end() }
  }

  /// Releases the containers and the inner decoders after the last row: they hold each other.
  func end() {
    unsafe latest = nil
    for decoder in inner.values { decoder.end() }
    for decoder in further.values { decoder.end() }
    (inner, further) = ([:], [:])
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw mismatch([Any].self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { RowSingleContainer(row: self) }

  /// The error for a type that cannot be decoded from an object.
  func mismatch(_ type: Any.Type) -> DecodingError {
    .mismatch(type, holds: "an object", .bound(scope.type), at: codingPath)
  }

  /// The current row. Throws for decoders that were kept beyond their call.
  @inline(__always)
  func row() throws -> UnsafePointer<Row> {
    guard let row = unsafe place.row else { throw rowEndedError() }
    return unsafe row
  }

  @inline(never)
  private func rowEndedError() -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: "The decoder was used after the end of its row"))
  }

  /// The decoder of a complex member. One decoder serves all rows.
  func inner(_ number: Int, _ scope: RowScope, _ key: any CodingKey) -> RowDecoder {
    if let existing = inner[number] { return existing }
    let decoder = RowDecoder(scope, place, parentPath: parentPath + [key])
    inner[number] = decoder
    return decoder
  }

  /// The decoder of related entities. One decoder, with a row position of its own, serves all rows.
  func further(_ expand: RowExpand, _ scope: RowScope, _ key: any CodingKey) -> RowDecoder {
    if let existing = further[ObjectIdentifier(expand)], unsafe existing.place.row == nil { return existing }
    let decoder = RowDecoder(scope, RowPlace(writer: place.writer), parentPath: parentPath + [key])
    if further[ObjectIdentifier(expand)] == nil { further[ObjectIdentifier(expand)] = decoder }
    return decoder
  }
}

/// A container that is kept for later rows, with the type of its keys.
class CachedContainer {
  let key: ObjectIdentifier
  fileprivate init(_ key: ObjectIdentifier) { self.key = key }
}

/// A kept container for the keys of one type.
final class ContainerOfKeys<Key: CodingKey>: CachedContainer {
  let container: KeyedDecodingContainer<Key>

  init(_ container: KeyedDecodingContainer<Key>) {
    self.container = container
    super.init(ObjectIdentifier(Key.self))
  }
}

/// A collection that is filled from rows, element by element.
protocol DecodableRows {
  static func rows(_ next: (_ decodeNext: () throws -> Void) throws -> Void, from decoder: RowDecoder) throws -> Self
}

extension Array: DecodableRows where Element: Decodable {
  static func rows(_ next: (_ decodeNext: () throws -> Void) throws -> Void, from decoder: RowDecoder) throws
    -> [Element]
  {
    var all: [Element] = []
    try next { all.append(try Element(from: decoder)) }
    return all
  }
}

extension Set: DecodableRows where Element: Decodable {
  static func rows(_ next: (_ decodeNext: () throws -> Void) throws -> Void, from decoder: RowDecoder) throws -> Set<
    Element
  > {
    var all: Set<Element> = []
    try next { all.insert(try Element(from: decoder)) }
    return all
  }
}

/// A container for an object from which one value is decoded.
struct RowSingleContainer: CompoundContainer {
  let row: RowDecoder
  var decoder: any Decoder { row }

  func mismatch(_ type: Any.Type) -> DecodingError { row.mismatch(type) }
}
