public import LarderCore
public import LarderStorage

/// Why an operation of an ``ObjectStore`` failed: the operation, its key, and the underlying cause.
public struct ObjectStoreError: Error, Sendable, CustomStringConvertible {
  /// The operation that failed.
  public enum Operation: String, Sendable, Hashable {
    /// Opening the file.
    case open
    /// Writing a value.
    case put
    /// Reading values, metadata or counts.
    case read
    /// Removing values.
    case remove
    /// Applying several changes in one transaction.
    case transaction
    /// Streaming the cached value, then the server's.
    case stream
    /// Closing the file, or writing counts.
    case close
  }

  /// The cause of the failure, with its details.
  public enum Category: Sendable {
    /// A key must have 1 to ``ObjectStore/keyByteLimit`` bytes of UTF-8; this key has `byteCount` bytes.
    case invalidKey(byteCount: Int)
    /// A label must have 1 to ``ObjectStore/keyByteLimit`` bytes of UTF-8; this label does not. The text is truncated
    /// to 64 characters.
    case invalidLabel(String)
    /// The value has more labels than ``ObjectStore/labelLimit``.
    case tooManyLabels(Int)
    /// The encoded value has `byteCount` bytes; `limit` are allowed.
    case tooLarge(byteCount: Int, limit: Int)
    /// The value under the key does not fit the requested type; `stored` says how it was stored, or what it contains.
    case typeMismatch(requested: String, stored: String)
    /// The decoder could not decode the bytes under the key as the requested type.
    case undecodable(requested: String, any Error)
    /// The encoder could not encode the value.
    case unencodable(any Error)
    /// The bytes under the key are not those that were written: the disk has damaged them.
    case damaged
    /// The server reports that the value is gone. The value that the store had when the fetch began has been deleted
    /// too.
    case gone
    /// The store has no value, and the fetch from the server failed with this error.
    case absent(any Error)
    /// The cursor was not created by this store for this selection.
    case invalidCursor
    /// The store has been closed.
    case closed
    /// The disk, the file or another process caused the failure; see the error's category.
    case storage(StorageError)
    /// The store is suspended, or was suspended while this call ran.
    case suspended
  }

  /// The operation that failed.
  public let operation: Operation
  /// The key concerned; nil if the operation concerns several keys.
  public let key: String?
  /// The cause of the failure, with its details.
  public let category: Category

  init(_ operation: Operation, key: String? = nil, _ category: Category) {
    self.operation = operation
    self.key = key
    self.category = category
  }

  init(_ operation: Operation, key: String? = nil, _ error: StorageError) {
    switch error.category {
    case .closed: self.init(operation, key: key, .closed)
    case .suspended: self.init(operation, key: key, .suspended)
    default: self.init(operation, key: key, .storage(error))
    }
  }

  /// The error that a fetch throws if the server reports that the value no longer exists, such as with status 404 or
  /// 410: see ``ObjectStore/stream(_:forKey:labels:ttl:from:)``.
  public static let gone = ObjectStoreError(.stream, .gone)

  /// Whether a fetch reports with it that its value is gone. An error of another stream names that stream's key.
  var isGoneFromServer: Bool { if case .gone = category { key == nil } else { false } }

  /// This error with a key, if it has none.
  func naming(_ key: String?, _ operation: Operation) -> ObjectStoreError {
    ObjectStoreError(operation, key: self.key ?? key, category)
  }

  /// What happened, to which key, and how to fix it.
  public var description: String {
    let location = key.map { " \"\($0)\"" } ?? ""
    return "\(operation.rawValue)\(location): \(category.text)"
  }
}

extension ObjectStoreError: LarderError {
  /// The stable number, from 1 in the order of the categories.
  public var errorIdentity: ErrorIdentity {
    switch category {
    case .invalidKey: ErrorIdentity(1, "invalidKey", .invalidInput)
    case .invalidLabel: ErrorIdentity(2, "invalidLabel", .invalidInput)
    case .tooManyLabels: ErrorIdentity(3, "tooManyLabels", .limit)
    case .tooLarge: ErrorIdentity(4, "tooLarge", .limit)
    case .typeMismatch: ErrorIdentity(5, "typeMismatch", .invalidData)
    case .undecodable: ErrorIdentity(6, "undecodable", .invalidData)
    case .unencodable: ErrorIdentity(7, "unencodable", .invalidInput)
    case .damaged: ErrorIdentity(8, "damaged", .storage)
    case .gone: ErrorIdentity(9, "gone", .notFound)
    case .absent(let error): ErrorIdentity(10, "absent", (error as? any LarderError)?.errorCategory ?? .notFound)
    case .invalidCursor: ErrorIdentity(11, "invalidCursor", .invalidInput)
    case .closed: ErrorIdentity(12, "closed", .state)
    case .storage(let error): ErrorIdentity(13, "storage", error.errorCategory)
    case .suspended: ErrorIdentity(14, "suspended", .state)
    }
  }

  /// Whether another process holds the file's lock, or the server could not be reached for now.
  public var isTransient: Bool {
    switch category {
    case .storage(let error): error.isTransient
    case .absent(let error): (error as? any LarderError)?.isTransient ?? false
    default: false
    }
  }

  /// What happened, to which key, and how to fix it.
  public var explanation: ErrorExplanation {
    let location = key.map { ", key \"\($0)\"" } ?? ""
    return ErrorExplanation(
      "\(ErrorExplanation.clause(category.text.message)) (\(operation.rawValue)\(location))", cure: category.text.cure)
  }
}

extension ObjectStoreError.Category {
  fileprivate var text: ErrorExplanation {
    switch self {
    case .invalidKey(let byteCount):
      ErrorExplanation(
        "The key has \(byteCount) bytes of UTF-8; 1 to \(ObjectStore.keyByteLimit) are allowed.",
        cure: "Choose another key.")
    case .invalidLabel(let label):
      ErrorExplanation(
        "The label \"\(label)\" is empty or longer than \(ObjectStore.keyByteLimit) bytes of UTF-8.",
        cure: "Choose another label.")
    case .tooManyLabels(let count):
      ErrorExplanation(
        "The value has \(count) labels; \(ObjectStore.labelLimit) are allowed.", cure: "Use fewer labels.")
    case .tooLarge(let byteCount, let limit):
      ErrorExplanation(
        "The value has \(byteCount) bytes; \(limit) are allowed.", cure: "Store the value in parts, or raise the limit."
      )
    case .typeMismatch(let requested, let stored):
      ErrorExplanation(
        "The value cannot be read as \(requested): \(stored)",
        cure: "Read the value with the type that it was stored with, or store it again.")
    case .undecodable(let requested, let error):
      ErrorExplanation(
        "The value cannot be decoded as \(requested): \(Self.message(of: error))",
        cure: "Read the value with the type that it was stored with. The stored value is unchanged.")
    case .unencodable(let error):
      ErrorExplanation(
        "The value cannot be encoded: \(Self.message(of: error))",
        cure: "Store another value. The store is unchanged.")
    case .damaged:
      ErrorExplanation(
        "The stored value is damaged: its checksum is wrong.", cure: "Store the value again, or delete it.")
    case .gone:
      ErrorExplanation(
        "The server reports that the value no longer exists.", cure: "Read another key. The stored value was deleted.")
    case .absent(let error):
      ErrorExplanation(
        "The store has no value, and the server returned none: \(Self.message(of: error))",
        cure: "Try again when the server can be reached.")
    case .invalidCursor:
      ErrorExplanation("The cursor does not belong to this selection.", cure: "Begin with the first page.")
    case .closed: ErrorExplanation("The store is closed.", cure: "Open the store first.")
    case .suspended:
      ErrorExplanation("The store is suspended.", cure: "Call resume() when the application is active again.")
    case .storage(let error): error.explanation
    }
  }

  /// The description of any error, without values that a decoder may have read.
  private static func message(of error: any Error) -> String {
    switch error {
    case let error as any LarderError: error.explanation.message
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
      context.debugDescription
    case EncodingError.invalidValue(_, let context): context.debugDescription
    default: "\(error)"
    }
  }
}

extension ObjectStoreError {
  /// The error of an operation with what made it fail.
  init(_ operation: Operation, key: String? = nil, below error: any Error) {
    self =
      switch error {
      case let error as ObjectStoreError: error.naming(key, operation)
      case let error as StorageError: ObjectStoreError(operation, key: key, error)
      default: ObjectStoreError(operation, key: key, .unencodable(error))
      }
  }
}
