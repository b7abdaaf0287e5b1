import LarderOData

/// One column of an entity table: a property, or a part of a complex one.
final class ReplicaColumn: Sendable {
  /// Its place among the table's columns of properties, from 0.
  let number: Int
  /// The name in SQL, unquoted: the path from the entity, joined by `/`; a type's name in front where two types of a
  /// hierarchy declare the same path.
  let name: String
  /// The path of property names from the entity.
  let path: [String]
  /// The type of the hierarchy that declares the path's first step.
  let declaringType: EdmStructure
  /// The property at the path's end; nil for a table's column of undeclared properties.
  let property: EdmProperty?
  /// The property's type without definitions' names: what values are made of.
  let type: EdmTypeReference
  /// How values stand in it.
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

/// How values of a type stand in a column. NULL is null in all of them.
///
/// Texts that compare otherwise than by bytes have a collation, so that `=`, `<`, ORDER BY, GROUP BY, DISTINCT and
/// indexes are exact without a second spelling: what the service sent is what is kept.
enum ColumnStorage: Sendable, Hashable {
  /// INTEGER 0 or 1.
  case boolean
  /// INTEGER: SByte, Byte, Int16, Int32, Int64.
  case integer
  /// REAL: Double, Single, infinities too; NaN is the text `NaN`.
  case real
  /// TEXT with the collation of decimals: the digits as the service sent them.
  case decimal
  /// TEXT, compared by bytes.
  case string
  /// TEXT, 36 characters in lower case.
  case guid
  /// TEXT `YYYY-MM-DD` with the collation of moments.
  case date
  /// TEXT in the form of Edm.DateTimeOffset with its offset as sent, with the collation of moments: by instant.
  case dateTimeOffset
  /// TEXT without offset (V2 and V3), with the collation of moments.
  case dateTime
  /// TEXT `hh:mm:ss` and a fraction without zeros at its end, compared by bytes.
  case timeOfDay
  /// TEXT in the form of Edm.Duration, with the collation of durations; V2's Edm.Time too.
  case duration
  /// BLOB.
  case binary
  /// INTEGER: the value of an enumeration.
  case enumeration
  /// TEXT: GeoJSON.
  case geo
  /// TEXT: JSON of a collection, an untyped value or a complex one that is not flattened. Decimals and durations stand
  /// in strings, so that SQLite's JSON functions lose no digit.
  case json
  /// TEXT: null for a complex value that is null, else its type's name, empty for the declared one. The columns of its
  /// properties follow.
  case complex
  /// TEXT: a JSON object of the properties that an open type does not declare; NULL for none.
  case dynamic
  /// TEXT: JSON of what is known of a named stream (`contentType`, `etag`, `readLink`, `editLink`).
  case stream
}
