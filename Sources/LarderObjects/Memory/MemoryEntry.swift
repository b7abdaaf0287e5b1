/// A value in memory.
struct MemoryEntry: Sendable {
  /// The row's id.
  let id: Int64
  let expires: Int64?
  /// What it takes of the tier's bytes.
  let cost: Int
  var content: Content
  /// Requests that the file does not know yet, and when the last of them was.
  var requests = RequestCounts.Requests()

  enum Content: Sendable {
    case decoded(any DecodedValue)
    /// As it was read at the start, when nobody had said yet of what type it is.
    case encoded(StoredObject)
  }

  init(id: Int64, expires: Int64?, cost: Int, content: Content) {
    self.id = id
    self.expires = expires
    self.cost = cost
    self.content = content
  }
}

/// A value of some type, which a look-up compares with the type asked for.
protocol DecodedValue: AnyObject, Sendable {}

/// A value of this type.
final class Decoded<Value: Sendable>: DecodedValue {
  let value: Value

  init(_ value: Value) { self.value = value }
}
