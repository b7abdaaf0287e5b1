#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A checked and encoded value that will be written to the file.
struct NewObject: Sendable {
  let key: ObjectKey
  let encoded: EncodedObject
  let labels: LabelSet
  let expires: Int64?
  /// The decoded value, for the memory tier.
  let value: any DecodedValue

  /// Checks and encodes a value. Throws `invalidKey`, `invalidLabel`, `tooManyLabels`, `unencodable`, `tooLarge`.
  init<Value: Codable & Sendable>(
    _ value: Value, forKey key: String, labels: some Collection<String>, expires: Date?, limits: ObjectStoreOptions,
    for operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) {
    self.key = try ObjectKey(key, for: operation)
    self.labels = try LabelSet(labels, key: self.key, for: operation)
    self.expires = expires.map(Timestamp.of)
    encoded = try EncodedObject(value, key: key, for: operation)
    let limit = min(limits.valueByteLimit, limits.disk?.byteLimit ?? .max)
    guard encoded.bytes.count <= limit else {
      throw ObjectStoreError(operation, key: key, .tooLarge(byteCount: encoded.bytes.count, limit: limit))
    }
    self.value = Decoded(value)
  }
}
