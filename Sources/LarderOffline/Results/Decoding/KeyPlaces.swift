/// The position of a member in a row, with what the decoding of scalars needs.
struct MemberPlace {
  /// The member's number in the scope; negative if no member has the name.
  let number: Int32
  /// The member's column; negative if it has none.
  let column: Int32
  /// The storage of the column.
  let storage: ColumnStorage
  /// Whether a text in the column is a `String` as it is, and whether an integer is a number as it is.
  let (isText, isWhole): (Bool, Bool)

  init(number: Int32, column: Int32, storage: ColumnStorage) {
    (self.number, self.column, self.storage) = (number, column, storage)
    switch storage {
    case .string, .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay, .duration, .decimal:
      (isText, isWhole) = (true, false)
    case .integer, .enumeration: (isText, isWhole) = (false, true)
    case .boolean, .real, .binary, .geo, .json, .complex, .dynamic, .stream: (isText, isWhole) = (false, false)
    }
  }

  /// No member has the name.
  static let none = MemberPlace(number: -1, column: -1, storage: .dynamic)
  fileprivate static let unknown = MemberPlace(number: -2, column: -1, storage: .dynamic)
}

/// The positions of the members for the keys of one type.
///
/// A key of an enumeration without payload is one byte, and equal bytes are equal keys. The name of such a key is
/// therefore looked up once in each query. Other keys are looked up by name.
@safe final class KeyPlaces {
  private let scope: RowScope
  private let isByte: Bool
  // Positions by the byte of a key, 256 of them. Only one thread uses a decoder.
  private let byByte: UnsafeMutablePointer<MemberPlace>

  init<Key: CodingKey>(_ scope: RowScope, _ type: Key.Type) {
    self.scope = scope
    isByte = MemoryLayout<Key>.size == 1 && _isPOD(type)
    unsafe byByte = UnsafeMutablePointer<MemberPlace>.allocate(capacity: 256)
    unsafe byByte.initialize(repeating: .unknown, count: 256)
  }

  deinit { unsafe byByte.deallocate() }

  /// The position of the member that a key names.
  @inline(__always)
  func place<Key: CodingKey>(_ key: Key) -> MemberPlace {
    guard isByte else { return find(key) }
    // The key is one byte without pointers, so 256 positions are enough.
    let cached = unsafe byByte[Int(unsafeBitCast(key, to: UInt8.self))]
    return cached.number != MemberPlace.unknown.number ? cached : find(key)
  }

  @inline(never)
  private func find<Key: CodingKey>(_ key: Key) -> MemberPlace {
    let place = scope.place(scope.number(key.stringValue))
    if isByte { unsafe byByte[Int(unsafeBitCast(key, to: UInt8.self))] = place }
    return place
  }
}
