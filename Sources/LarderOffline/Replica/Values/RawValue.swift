import LarderOData
import LarderStorage

/// The text of a value that the service sent and that does not fit its property's declared type.
///
/// A query with ``OfflineODataDefiningQuery/keepsRawValues`` stores it in the property's cell, in a storage class that
/// no value of the column has: as a blob, or in a column of bytes as a text. It therefore goes wherever the row goes,
/// and no value is equal to it.
enum RawValue {
  /// The annotation of a property, in results, that contains the text.
  static let term = "larder.rawValue"
  /// The setting of stores with a query that keeps such values.
  static let setting = "raw-values"

  /// The storage class of the texts in a column.
  static func storageClass(in storage: ColumnStorage) -> SQLStorageClass { storage == .binary ? .text : .blob }

  static func cell(_ text: [UInt8], in storage: ColumnStorage) -> SQLValue {
    storage == .binary ? .text(String(decoding: text, as: UTF8.self)) : .blob(text)
  }

  /// Whether a cell contains such a text, and not a value.
  static func isOne(_ cell: SQLValue, in storage: ColumnStorage) -> Bool {
    switch cell {
    case .blob: storage != .binary
    case .text: storage == .binary
    case .integer, .real, .null: false
    }
  }

  /// The error of a query that needs the value.
  static func failure(of entity: String, _ property: String) -> OfflineODataError {
    OfflineODataError(
      .invalidQuery,
      "the value of \(entity)/\(property) does not fit its declared type; results show it in the annotation \(term)"
    )
  }

  /// The condition that a cell contains such a text.
  static func condition(_ cell: SQLText, in storage: ColumnStorage) -> SQLText {
    if storage == .binary { return "typeof(\(cell)) = 'text'" }
    return "typeof(\(cell)) = 'blob'"
  }
}

extension Replica {
  /// Makes queries look for raw values from now on, because a defining query may store them.
  func expectRawValues() async throws(StorageError) {
    try await database.write { (connection) throws(StorageError) in
      guard try connection.setting(RawValue.setting) == nil else { return }
      try connection.set(RawValue.setting, to: .integer(1))
      try connection.countVersionUp()
    }
  }

  /// Makes the next download of a query read everything.
  func readWhole(_ query: Int64) async throws(StorageError) {
    try await database.write { (connection) throws(StorageError) in try connection.readWhole(query) }
  }
}
