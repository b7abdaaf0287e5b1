public import Storage

/// Why an operation of an ``ObjectStore`` failed: which operation, on which key, and what below.
public struct ObjectStoreError: Error, Sendable, CustomStringConvertible {
  /// What was to be done.
  public enum Operation: String, Sendable, Hashable {
    /// Opening the file.
    case open
    /// Writing a value.
    case put
    /// Reading values, metadata, counts.
    case read
    /// Deleting values.
    case delete
    /// Several changes at once.
    case transaction
    /// The cached value, then the server's.
    case stream
    /// Closing the file, writing counts.
    case close
  }

  /// What went wrong.
  public enum Reason: Sendable {
    /// A key must have 1 to ``ObjectStore/keyByteLimit`` bytes of UTF-8; this one has so many.
    case invalidKey(bytes: Int)
    /// A label must have 1 to ``ObjectStore/keyByteLimit`` bytes of UTF-8; this one, cut to 64 characters, has not.
    case invalidLabel(String)
    /// More labels than ``ObjectStore/labelLimit``.
    case tooManyLabels(Int)
    /// A value may have `limit` bytes once encoded.
    case tooLarge(bytes: Int, limit: Int)
    /// The value under the key is not of the type asked for; `found` says of what it is.
    case typeMismatch(asked: String, found: String)
    /// The bytes under the key do not make a value of the type asked for, says its decoder.
    case undecodable(asked: String, any Error)
    /// The value cannot be encoded, says its encoder.
    case unencodable(any Error)
    /// The bytes under the key are not those that were written: the disk has damaged them.
    case damaged
    /// The server says that the value is gone; what was here when it was asked has been deleted too.
    case gone
    /// There is no value here, and none came from the server, for this reason.
    case absent(any Error)
    /// The place to go on from was not made by this store for this selection.
    case invalidCursor
    /// The store has been closed.
    case closed
    /// The disk, the file or another process: see its category.
    case storage(StorageError)
  }

  /// What was to be done.
  public let operation: Operation
  /// The key concerned; nil where the operation concerns several.
  public let key: String?
  /// What went wrong.
  public let reason: Reason

  init(_ operation: Operation, key: String? = nil, _ reason: Reason) {
    self.operation = operation
    self.key = key
    self.reason = reason
  }

  init(_ operation: Operation, key: String? = nil, _ error: StorageError) {
    self.init(operation, key: key, error.category == .closed ? .closed : .storage(error))
  }

  /// The same with a key, where it has none.
  func naming(_ key: String?, _ operation: Operation) -> ObjectStoreError {
    ObjectStoreError(operation, key: self.key ?? key, reason)
  }

  /// What happened, to which key, and the cure.
  public var description: String {
    let place = key.map { " \"\($0)\"" } ?? ""
    return "\(operation.rawValue)\(place): \(reason.text)"
  }
}

extension ObjectStoreError.Reason {
  fileprivate var text: String {
    switch self {
    case .invalidKey(let bytes):
      "A key has 1 to \(ObjectStore.keyByteLimit) bytes of UTF-8, this one has \(bytes). Choose another key."
    case .invalidLabel(let label):
      "The label \"\(label)\" is empty or longer than \(ObjectStore.keyByteLimit) bytes of UTF-8. Choose another label."
    case .tooManyLabels(let count):
      "\(count) labels are more than the \(ObjectStore.labelLimit) that a value may have. Give it fewer."
    case .tooLarge(let bytes, let limit):
      "The value has \(bytes) bytes, \(limit) are allowed. Keep it in parts, or raise the limit."
    case .typeMismatch(let asked, let found):
      "The value is not a \(asked) but \(found). Read it as what it was put as, or put it anew."
    case .undecodable(let asked, let error):
      "The value does not decode as \(asked) (\(error)). It is still there: read it as what it was put as."
    case .unencodable(let error): "The value cannot be encoded (\(error)). Nothing was changed."
    case .damaged: "The value is not what was written: the disk has damaged it. Put it anew, or delete it."
    case .gone: "The server says that it is gone; what was here when it was asked has been deleted too."
    case .absent(let error):
      "There is no value, and none came from the server (\(error)). Try again when it can be reached."
    case .invalidCursor: "The place to go on from does not belong to this selection. Begin with the first page."
    case .closed: "The store is closed. Open it first."
    case .storage(let error): error.description
    }
  }
}
