import LarderOData

/// One column of an entity table: a property, or a part of a complex one.
final class ReplicaColumn: Sendable {
  /// The column's index among the table's columns of properties, from 0.
  let number: Int
  /// The name: the path from the entity, joined by `/`. If two types of a hierarchy declare the same
  /// path, a type's name precedes it.
  let name: String
  /// The path of property names from the entity.
  let path: [String]
  /// The type of the hierarchy that declares the path's first step.
  let declaringType: EdmStructure
  /// The property at the path's end; nil for a table's column of undeclared properties.
  let property: EdmProperty?
  /// The property's type with type definitions resolved. Values are created from it.
  let type: EdmTypeReference
  /// How values are stored in the column.
  let storage: ColumnStorage

  init(
    number: Int, name: String, path: [String], declaringType: EdmStructure, property: EdmProperty?,
    type: EdmTypeReference, storage: ColumnStorage
  ) {
    self.number = number
    self.name = name
    self.path = path
    self.declaringType = declaringType
    self.property = property
    self.type = type
    self.storage = storage
  }
}

/// How values of a type are stored in a column. NULL is null in all of them.
///
/// Texts that are not compared by bytes have a collation. `=`, `<`, ORDER BY, GROUP BY, DISTINCT and indexes are
/// therefore exact without a second spelling: the store keeps what the service sent.
enum ColumnStorage: Sendable, Hashable {
  /// An integer, 0 or 1.
  case boolean
  /// An integer: SByte, Byte, Int16, Int32, Int64.
  case integer
  /// A floating-point number: Double and Single, including infinities; NaN is the text `NaN`.
  case real
  /// Text with the collation of decimals: the digits as the service sent them.
  case decimal
  /// Text, compared by bytes.
  case string
  /// Text, 36 characters in lower case.
  case guid
  /// Text `YYYY-MM-DD` with the collation of dates and times.
  case date
  /// Text in the form of Edm.DateTimeOffset with its offset as sent, with the collation of dates and times: by instant.
  case dateTimeOffset
  /// Text without offset (V2 and V3), with the collation of dates and times.
  case dateTime
  /// Text `hh:mm:ss` and a fraction without trailing zeros, compared by bytes.
  case timeOfDay
  /// Text in the form of Edm.Duration, with the collation of durations; also for V2's Edm.Time.
  case duration
  /// Bytes.
  case binary
  /// An integer: the value of an enumeration.
  case enumeration
  /// Text: GeoJSON.
  case geo
  /// Text: JSON of a collection, an untyped value or a complex value that is not flattened. Decimals and durations are
  /// strings in it, so that SQLite's JSON functions lose no digit.
  case json
  /// Text: null for a complex value that is null, otherwise its type's name, empty for the declared type. The columns
  /// of its properties follow.
  case complex
  /// Text: a JSON object of the properties that an open type does not declare; NULL for none.
  case dynamic
  /// Text: JSON of what is known about a named stream (`contentType`, `etag`, `readLink`, `editLink`).
  case stream
}
