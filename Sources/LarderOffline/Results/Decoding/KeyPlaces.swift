/// Where a member of a row stands, as far as scalars need it.
struct MemberPlace {
  /// Its number in the scope; negative where no member has the name.
  let number: Int32
  /// Its column; negative where it is none.
  let column: Int32
  /// What the column holds.
  let storage: ColumnStorage
  /// Whether a text in the column is a `String`, and an integer a number, as they stand.
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

/// Where the members stand that the keys of one type name.
///
/// Keys that are enumerations without payload are one byte: the same byte is the same key, so that its name is asked for
/// once a question. Other keys are looked for by name.
@safe final class KeyPlaces {
  private let scope: RowScope
  private let isByte: Bool
  // By the byte of a key, 256 of them. A decoder is in the hands of one thread.
  private let byByte: UnsafeMutablePointer<MemberPlace>

  init<Key: CodingKey>(_ scope: RowScope, _ type: Key.Type) {
    self.scope = scope
    isByte = MemoryLayout<Key>.size == 1 && _isPOD(type)
    unsafe byByte = UnsafeMutablePointer<MemberPlace>.allocate(capacity: 256)
    unsafe byByte.initialize(repeating: .unknown, count: 256)
  }

  deinit { unsafe byByte.deallocate() }

  /// Where the member stands that a key names.
  @inline(__always)
  func place<Key: CodingKey>(_ key: Key) -> MemberPlace {
    guard isByte else { return find(key) }
    // One byte without pointers, so 256 places are enough.
    let known = unsafe byByte[Int(unsafeBitCast(key, to: UInt8.self))]
    return known.number != MemberPlace.unknown.number ? known : find(key)
  }

  @inline(never)
  private func find<Key: CodingKey>(_ key: Key) -> MemberPlace {
    let found = scope.place(scope.number(key.stringValue))
    if isByte { unsafe byByte[Int(unsafeBitCast(key, to: UInt8.self))] = found }
    return found
  }
}
