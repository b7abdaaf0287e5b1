import CLarderSQLite

/// SQLite's five storage classes.
package enum SQLStorageClass: Int32, Sendable, Hashable {
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  case null = 5
}

/// The arguments of a call of a function: valid inside it, read in place.
@safe package struct SQLArguments: ~Copyable {
  /// How many there are.
  package let count: Int
  private let values: UnsafeMutablePointer<OpaquePointer?>?
  private let context: OpaquePointer?

  init(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?, _ context: OpaquePointer?) {
    self.count = unsafe values == nil ? 0 : Int(count)
    unsafe self.values = values
    unsafe self.context = context
  }

  /// The argument of a place; nil beyond the last one.
  func value(_ index: Int) -> OpaquePointer? {
    guard let values = unsafe values, index >= 0, index < count else { return nil }
    return unsafe values[index]
  }

  /// The class of an argument; NULL beyond the last one.
  package func storageClass(_ index: Int) -> SQLStorageClass {
    guard let value = unsafe value(index) else { return .null }
    return SQLStorageClass(rawValue: unsafe sqlite3_value_type(value)) ?? .null
  }

  /// True for NULL.
  package func isNull(_ index: Int) -> Bool { storageClass(index) == .null }

  /// An integer; other classes as SQLite converts them.
  package func int64(_ index: Int) -> Int64 {
    guard let value = unsafe value(index) else { return 0 }
    return unsafe sqlite3_value_int64(value)
  }

  /// A floating-point number; other classes as SQLite converts them.
  package func real(_ index: Int) -> Double {
    guard let value = unsafe value(index) else { return 0 }
    return unsafe sqlite3_value_double(value)
  }

  /// The bytes of a text; numbers as SQLite writes them, none for NULL. Valid until the call ends.
  package func utf8(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    guard let value = unsafe value(index), let start = unsafe sqlite3_value_text(value) else {
      return unsafe UnsafeBufferPointer(start: nil, count: 0)
    }
    return unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  /// The bytes of a blob or text. Valid until the call ends.
  package func bytes(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    guard let value = unsafe value(index), let start = unsafe sqlite3_value_blob(value) else {
      return unsafe UnsafeBufferPointer(start: nil, count: 0)
    }
    let count = Int(unsafe sqlite3_value_bytes(value))
    return unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// A text; numbers as SQLite writes them.
  package func text(_ index: Int) -> String { unsafe String(decoding: utf8(index), as: UTF8.self) }

  // MARK: What is kept of constant arguments

  /// What was made of an argument that is the same in every row of the statement, made anew where it is not.
  package func kept<Object: AnyObject>(
    _ index: Int, _ make: () throws(SQLFunctionError) -> Object
  ) throws(SQLFunctionError) -> Object {
    guard let context = unsafe context else { return try make() }
    if let kept = unsafe sqlite3_get_auxdata(context, Int32(clamping: index)),
      let object = unsafe Unmanaged<AnyObject>.fromOpaque(kept).takeUnretainedValue() as? Object
    {
      return object
    }
    let made = try make()
    // SQLite gives it back at once where the argument is not constant; this function still holds it.
    let held = unsafe Unmanaged<AnyObject>.passRetained(made).toOpaque()
    unsafe sqlite3_set_auxdata(context, Int32(clamping: index), held, releaseObject)
    return made
  }
}

/// Where a call puts its result.
@safe package struct SQLResult: ~Copyable {
  private let context: OpaquePointer?

  init(_ context: OpaquePointer?) { unsafe self.context = context }

  /// NULL.
  package func null() { unsafe sqlite3_result_null(context) }

  /// An integer.
  package func integer(_ number: Int64) { unsafe sqlite3_result_int64(context, number) }

  /// 1 or 0.
  package func boolean(_ flag: Bool) { unsafe sqlite3_result_int(context, flag ? 1 : 0) }

  /// A floating-point number; NaN becomes NULL.
  package func real(_ number: Double) { unsafe sqlite3_result_double(context, number) }

  /// A text of UTF-8 bytes.
  package func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    let start = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    // A null pointer would be NULL.
    guard let start = unsafe start else { return unsafe larder_sqlite3_result_text_copy(context, "", 0) }
    unsafe larder_sqlite3_result_text_copy(context, start, UInt64(bytes.count))
  }

  /// A text of UTF-8 bytes.
  package func text(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBufferPointer { unsafe text($0) } }

  /// A text.
  package func text(_ string: String) {
    var string = string
    string.withUTF8 { unsafe text($0) }
  }

  /// A blob.
  package func blob(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return unsafe sqlite3_result_zeroblob(context, 0) }
    unsafe bytes.withUnsafeBytes {
      unsafe larder_sqlite3_result_blob_copy(context, $0.baseAddress, UInt64($0.count))
    }
  }

  /// An argument as it is.
  package func argument(_ arguments: borrowing SQLArguments, _ index: Int) {
    guard let value = unsafe arguments.value(index) else { return null() }
    unsafe sqlite3_result_value(context, value)
  }

  /// Any value.
  package func value(_ value: SQLValue) {
    switch value {
    case .null: null()
    case .integer(let number): integer(number)
    case .real(let number): real(number)
    case .text(let string): text(string)
    case .blob(let bytes): blob(bytes)
    }
  }

  /// The statement fails with `unexpectedValue` and this message.
  func fail(_ error: SQLFunctionError) {
    unsafe sqlite3_result_error(context, error.message, -1)
    unsafe sqlite3_result_error_code(context, SQLITE_MISMATCH)
  }
}
