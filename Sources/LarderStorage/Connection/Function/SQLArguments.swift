import CLarderSQLite

/// The arguments of a function call. They are read in place and valid only during the call.
@safe package struct SQLArguments: ~Copyable {
  /// The number of arguments.
  package let count: Int
  private let values: UnsafeMutablePointer<OpaquePointer?>?
  private let context: OpaquePointer?

  init(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?, _ context: OpaquePointer?) {
    self.count = unsafe values == nil ? 0 : Int(count)
    unsafe self.values = values
    unsafe self.context = context
  }

  /// The argument at an index; nil beyond the last one.
  func value(_ index: Int) -> OpaquePointer? {
    guard let values = unsafe values, index >= 0, index < count else { return nil }
    return unsafe values[index]
  }

  /// The storage class of an argument; NULL beyond the last one.
  package func storageClass(_ index: Int) -> SQLStorageClass {
    guard let value = unsafe value(index) else { return .null }
    return SQLStorageClass(rawValue: unsafe sqlite3_value_type(value)) ?? .null
  }

  /// True for NULL.
  package func isNull(_ index: Int) -> Bool { storageClass(index) == .null }

  /// The value of an argument as an integer; other classes are converted by SQLite.
  package func int64(_ index: Int) -> Int64 {
    guard let value = unsafe value(index) else { return 0 }
    return unsafe sqlite3_value_int64(value)
  }

  /// The value of an argument as a floating-point number; other classes are converted by SQLite.
  package func real(_ index: Int) -> Double {
    guard let value = unsafe value(index) else { return 0 }
    return unsafe sqlite3_value_double(value)
  }

  /// The bytes of a text; numbers are converted by SQLite, and NULL has none. Valid until the call ends.
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

  /// The value of an argument as a text; numbers are converted by SQLite.
  package func text(_ index: Int) -> String { unsafe String(decoding: utf8(index), as: UTF8.self) }

  // MARK: Objects kept for constant arguments

  /// Returns an object computed from an argument. SQLite keeps it while the argument is constant in all rows of the
  /// statement; otherwise it is computed again.
  package func cached<Object: AnyObject>(
    _ index: Int, _ make: () throws(SQLFunctionError) -> Object
  ) throws(SQLFunctionError) -> Object {
    guard let context = unsafe context else { return try make() }
    if let cached = unsafe sqlite3_get_auxdata(context, Int32(clamping: index)),
      let object = unsafe Unmanaged<AnyObject>.fromOpaque(cached).takeUnretainedValue() as? Object
    {
      return object
    }
    let newObject = try make()
    // SQLite releases the object at once if the argument is not constant; this function still holds it.
    let retained = unsafe Unmanaged<AnyObject>.passRetained(newObject).toOpaque()
    unsafe sqlite3_set_auxdata(context, Int32(clamping: index), retained, releaseObject)
    return newObject
  }
}

/// Receives the result of a function call.
@safe package struct SQLResult: ~Copyable {
  private let context: OpaquePointer?

  init(_ context: OpaquePointer?) { unsafe self.context = context }

  /// Sets the result to NULL.
  package func null() { unsafe sqlite3_result_null(context) }

  /// Sets the result to an integer.
  package func integer(_ number: Int64) { unsafe sqlite3_result_int64(context, number) }

  /// Sets the result to 1 or 0.
  package func boolean(_ flag: Bool) { unsafe sqlite3_result_int(context, flag ? 1 : 0) }

  /// Sets the result to a floating-point number; NaN becomes NULL.
  package func real(_ number: Double) { unsafe sqlite3_result_double(context, number) }

  /// Sets the result to a text of UTF-8 bytes.
  package func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    let start = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    // A null pointer would set the result to NULL.
    guard let start = unsafe start else { return unsafe larder_sqlite3_result_text_copy(context, "", 0) }
    unsafe larder_sqlite3_result_text_copy(context, start, UInt64(bytes.count))
  }

  /// Sets the result to a text of UTF-8 bytes.
  package func text(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBufferPointer { unsafe text($0) } }

  /// Sets the result to a text.
  package func text(_ string: String) {
    var string = string
    string.withUTF8 { unsafe text($0) }
  }

  /// Sets the result to a blob.
  package func blob(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return unsafe sqlite3_result_zeroblob(context, 0) }
    unsafe bytes.withUnsafeBytes {
      unsafe larder_sqlite3_result_blob_copy(context, $0.baseAddress, UInt64($0.count))
    }
  }

  /// Sets the result to an argument, unchanged.
  package func argument(_ arguments: borrowing SQLArguments, _ index: Int) {
    guard let value = unsafe arguments.value(index) else { return null() }
    unsafe sqlite3_result_value(context, value)
  }

  /// Sets the result to any value.
  package func value(_ value: SQLValue) {
    switch value {
    case .null: null()
    case .integer(let number): integer(number)
    case .real(let number): real(number)
    case .text(let string): text(string)
    case .blob(let bytes): blob(bytes)
    }
  }

  /// Makes the statement fail with `unexpectedValue` and this message.
  func fail(_ error: SQLFunctionError) {
    unsafe sqlite3_result_error(context, error.message, -1)
    unsafe sqlite3_result_error_code(context, SQLITE_MISMATCH)
  }
}
