// Values from bytes, which are not copied. nil if the whole text is not a value of the type.

extension ODataDecimal {
  /// Parses the bytes like ``init(_:)-(String)``.
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var cursor = ByteCursor(bytes)
    guard let value = try? ODataDecimal(&cursor), cursor.isAtEnd else { return nil }
    self = value
  }
}

extension ODataDuration {
  /// Reads what ``init(_:)`` reads.
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var cursor = ByteCursor(bytes)
    guard let value = try? ODataDuration(&cursor), cursor.isAtEnd else { return nil }
    self = value
  }
}

extension ODataDate {
  /// Reads what ``init(_:)`` reads.
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var cursor = ByteCursor(bytes)
    self.init(&cursor)
    guard cursor.isAtEnd else { return nil }
  }
}

extension ODataDateTime {
  /// Reads what ``init(_:)`` reads.
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var cursor = ByteCursor(bytes)
    self.init(&cursor)
    guard cursor.isAtEnd else { return nil }
  }
}

extension ODataDateTimeOffset {
  /// Reads what ``init(_:)`` reads.
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var cursor = ByteCursor(bytes)
    self.init(&cursor)
    guard cursor.isAtEnd else { return nil }
  }
}

extension ODataTimeOfDay {
  /// Reads what ``init(_:)`` reads.
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    var cursor = ByteCursor(bytes)
    self.init(&cursor)
    guard cursor.isAtEnd else { return nil }
  }
}
