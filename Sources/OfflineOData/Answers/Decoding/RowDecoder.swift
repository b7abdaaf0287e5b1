import OData
import Storage

/// The row that decoders of one statement look at: there while the statement stands on it.
@safe final class RowPlace {
  /// Valid inside the call that receives the row; nil outside.
  // One thread has a statement and its decoders, and nothing is called while the pointer is looked at.
  @exclusivity(unchecked) fileprivate(set) var row: UnsafePointer<Row>?
  let writer: AnswerWriter

  init(writer: AnswerWriter) { self.writer = writer }

  /// Lets decoders look at a row while `body` runs.
  @inline(__always)
  func with<Value>(_ row: borrowing Row, _ body: () throws -> Value) rethrows -> Value {
    unsafe try withUnsafePointer(to: row) { pointer in
      unsafe self.row = unsafe pointer
      defer { unsafe self.row = nil }
      return try body()
    }
  }
}

/// Decodes an object straight from a row: columns by the names of the members.
final class RowDecoder: Decoder {
  let scope: RowScope
  let place: RowPlace
  let around: [any CodingKey]
  private var inner: [Int: RowDecoder] = [:]
  private var further: [ObjectIdentifier: RowDecoder] = [:]

  init(_ scope: RowScope, _ place: RowPlace, around: [any CodingKey] = []) {
    (self.scope, self.place, self.around) = (scope, place, around)
  }

  var codingPath: [any CodingKey] { around }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowKeyedContainer<Key>(self, scope.places(of: type)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.typeMismatch(
      [Any].self, .init(codingPath: codingPath, debugDescription: "An entity or complex value is no array"))
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { RowSingleContainer(decoder: self) }

  /// A row that is there; decoders that were kept beyond their call have none.
  @inline(__always)
  func row() throws -> UnsafePointer<Row> {
    guard let row = unsafe place.row else { throw gone() }
    return unsafe row
  }

  @inline(never)
  private func gone() -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: "The decoder was used after its row had gone"))
  }

  /// The decoder of a complex member: one for all rows.
  func inner(_ number: Int, _ scope: RowScope, _ key: any CodingKey) -> RowDecoder {
    if let known = inner[number] { return known }
    let made = RowDecoder(scope, place, around: around + [key])
    inner[number] = made
    return made
  }

  /// The decoder of related entities: one for all rows, with a place of its own.
  func further(_ expand: RowExpand, _ scope: RowScope, _ key: any CodingKey) -> RowDecoder {
    if let known = further[ObjectIdentifier(expand)], unsafe known.place.row == nil { return known }
    let made = RowDecoder(scope, RowPlace(writer: place.writer), around: around + [key])
    further[ObjectIdentifier(expand)] = made
    return made
  }
}

/// An array that is filled from rows, element by element.
protocol DecodableRows {
  static func rows(_ next: (_ take: () throws -> Void) throws -> Void, from decoder: RowDecoder) throws -> Self
}

extension Array: DecodableRows where Element: Decodable {
  static func rows(_ next: (_ take: () throws -> Void) throws -> Void, from decoder: RowDecoder) throws -> [Element] {
    var all: [Element] = []
    try next { all.append(try Element(from: decoder)) }
    return all
  }
}

extension Set: DecodableRows where Element: Decodable {
  static func rows(_ next: (_ take: () throws -> Void) throws -> Void, from decoder: RowDecoder) throws -> Set<Element>
  {
    var all: Set<Element> = []
    try next { all.insert(try Element(from: decoder)) }
    return all
  }
}

/// An object where one value is asked for: types that wrap another hand it on.
struct RowSingleContainer: SingleValueDecodingContainer {
  let decoder: RowDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }
  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: decoder) }
}
