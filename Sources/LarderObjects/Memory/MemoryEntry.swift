/// A value in memory.
struct MemoryEntry: Sendable {
  /// The row's id.
  let id: Int64
  let expires: Int64?
  /// The cost of the value, in bytes of the tier's limit.
  let cost: Int
  var content: Content
  /// Requests that are not written to the file yet, and the number of the last of them.
  var requests = RequestCounts.Requests()

  enum Content: Sendable {
    case decoded(any DecodedValue)
    /// The value as it was loaded at the start, before any caller has named its type.
    case encoded(StoredObject)
  }

  init(id: Int64, expires: Int64?, cost: Int, content: Content) {
    self.id = id
    self.expires = expires
    self.cost = cost
    self.content = content
  }
}
