public import LarderCore

/// Why something stored on disk could not be read or written.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure, for decisions in code; the other codes are for diagnosis.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// Another connection holds the lock, and the busy timeout expired.
    case busy
    /// The file's content is damaged.
    case corrupt
    /// The file is not an SQLite database.
    case notADatabase
    /// The file is encrypted with a key other than the one given.
    case wrongKey
    /// The file is encrypted, and no key was given.
    case encrypted
    /// The file is not encrypted, and a key was given.
    case notEncrypted
    /// The file is a database of another application; it is left as it is.
    case foreignFile
    /// The file was written by a later version of this library; it is left as it is.
    case newerSchema
    /// Another process, or another store of this one, has the file in use.
    case inUse
    /// The disk is full, or the file has reached its size limit.
    case full
    /// The file, or its folder, is not writable.
    case readOnly
    /// The file cannot be opened: its folder or the permissions are missing.
    case cannotOpen
    /// The operating system failed to read or write.
    case inputOutput
    /// A constraint of the schema was violated.
    case constraint
    /// A value is longer than the engine allows.
    case tooLarge
    /// The database has been closed.
    case closed
    /// The API was used wrongly: a statement that does not parse, or a parameter that does not exist.
    case misuse
    /// A value in the file does not have the expected type.
    case unexpectedValue
    /// This version does not support the operation; the message names it.
    case notSupported
    /// The caller interrupted the work.
    case interrupted
    /// Any other failure.
    case other
    /// The store is suspended: it has no open file and no lock until it is resumed.
    case suspended
    /// The application gave no path, and the platform's folder for its files is unknown.
    case noDefaultLocation
    /// Another process has changed a file that was assumed not to change while it is open.
    case changed
  }

  /// The kind of failure.
  public let category: Category
  /// The engine's primary result code; 0 if the error does not come from the engine.
  public let code: Int32
  /// The engine's extended result code; 0 if the error does not come from the engine.
  public let extendedCode: Int32
  /// The message of the engine or this library.
  public let message: String
  /// The statement, with its parameters but without their values; nil if there was none.
  public let sql: String?
  /// The path of the file; nil for a database in memory.
  public let path: String?

  init(
    _ category: Category, code: Int32 = 0, message: String, sql: String? = nil, path: String?
  ) {
    self.category = category
    self.code = code & 0xFF
    extendedCode = code
    self.message = message
    self.sql = sql
    self.path = path
  }

  /// Whether the description says what to do.
  package var tellsCure: Bool { category.cure != nil }

  /// What happened, where, and what to do about it.
  public var description: String {
    let location = path.map { " (\($0))" } ?? ""
    let codeText = extendedCode == 0 ? "" : " [SQLite \(extendedCode)]"
    let text = "\(ErrorExplanation.clause(message))\(codeText)\(location)"
    return category.cure.map { "\(text). \($0)" } ?? text
  }
}

extension StorageError.Category {
  var cure: String? {
    switch self {
    case .busy: "Another connection is writing; try again."
    case .corrupt:
      "The file is damaged. Restore it from a backup. Deleting it loses the data that only this file contains."
    case .notADatabase: "The file is not a database; move it or choose another path."
    case .wrongKey: "Open it with the key that it was encrypted with."
    case .encrypted: "Open it with its key."
    case .notEncrypted: "Open it without a key, encrypt the file first, or choose another path."
    case .foreignFile: "It belongs to another application; choose another path."
    case .newerSchema: "Update this program, or choose another path."
    case .inUse: "Close the other store first, or choose another path."
    case .full: "Free some disk space."
    case .readOnly, .cannotOpen: "Check the path and its permissions."
    case .closed: "Open it first."
    case .suspended: "Call resume() when the application is active again."
    case .noDefaultLocation: "Set HOME to the user's home folder, or give the store a path."
    case .changed: "Close the file and open it again."
    case .inputOutput, .constraint, .tooLarge, .misuse, .unexpectedValue, .notSupported, .interrupted, .other: nil
    }
  }
}

extension StorageError {
  /// The error for a file that is only read, because its disk was full when it was opened.
  static func fullSinceOpening(_ path: String) -> StorageError {
    StorageError(
      .full, message: "The disk was full when the file was opened; free some disk space and open it again.", path: path)
  }

  /// The error for a file that is no longer in use; nil for one that is.
  static func unusable(_ path: String, _ use: StoreUse) -> StorageError? {
    switch use {
    case .open: nil
    case .suspended: StorageError(.suspended, message: "The store is suspended", path: path)
    case .closed: StorageError(.closed, message: "The database is closed", path: path)
    }
  }

  /// The error for a file that cannot be opened or created.
  package static func cannotOpen(_ path: String, _ message: String) -> StorageError {
    StorageError(.cannotOpen, message: message, path: path)
  }

  /// The error for a file that must be written but can only be read.
  package static func readOnly(_ path: String, _ message: String) -> StorageError {
    StorageError(.readOnly, message: message, path: path)
  }

  /// The error for a file whose content is damaged.
  package static func damaged(_ path: String, _ message: String) -> StorageError {
    StorageError(.corrupt, message: message, path: path)
  }

  /// The error for a file that belongs to another program.
  package static func foreign(_ path: String) -> StorageError {
    StorageError(.foreignFile, message: "The file was not created by this library", path: path)
  }
}

extension StorageError {
  /// The error for a file that another store or process is using.
  package static func inUse(_ path: String) -> StorageError {
    StorageError(.inUse, message: "The file is in use by another store or process", path: path)
  }

  /// The error for a file that another process keeps locked.
  package static func locked(_ path: String) -> StorageError {
    StorageError(.busy, message: "The file is locked by another process", path: path)
  }

  /// The error for an operation that this version, or the file system, does not support.
  package static func notSupported(_ path: String, _ message: String) -> StorageError {
    StorageError(.notSupported, message: message, path: path)
  }

  /// The error for a transaction that was cancelled by its own work.
  package static func givenUp(_ path: String) -> StorageError {
    StorageError(.interrupted, message: "The transaction was cancelled by its own code", path: path)
  }
}

extension StorageError {
  /// The error for a file that needs a key.
  package static func encrypted(_ path: String) -> StorageError {
    StorageError(.encrypted, message: "The file is encrypted, and no key was given", path: path)
  }

  /// The error for a file that is not encrypted, although a key was given.
  package static func notEncrypted(_ path: String) -> StorageError {
    StorageError(.notEncrypted, message: "The file is not encrypted, and a key was given", path: path)
  }

  /// The error for a file that is encrypted with another key.
  package static func wrongKey(_ path: String) -> StorageError {
    StorageError(.wrongKey, message: "The file is encrypted with another key", path: path)
  }
}

extension StorageError: LarderError {
  /// The stable number of the category, from 1 in the order of its cases; ``extendedCode`` is the engine's.
  public var errorIdentity: ErrorIdentity {
    ErrorIdentity((Category.allCases.firstIndex(of: category) ?? 0) + 1, category.rawValue, category.shared)
  }

  /// Whether another connection holds the lock.
  public var isTransient: Bool { category == .busy }

  /// What happened, where, and what to do about it.
  public var explanation: ErrorExplanation {
    let location = path.map { " (\($0))" } ?? ""
    let codeText = extendedCode == 0 ? "" : " [SQLite \(extendedCode)]"
    return ErrorExplanation(
      "\(ErrorExplanation.clause(message))\(codeText)\(location)", cure: category.cure ?? category.fallbackCure)
  }
}

extension StorageError.Category {
  /// The category of all errors of the package.
  fileprivate var shared: ErrorIdentity.Category {
    switch self {
    case .busy, .inUse, .closed, .suspended, .changed: .state
    case .corrupt, .notADatabase, .foreignFile, .unexpectedValue: .invalidData
    case .wrongKey, .encrypted, .notEncrypted: .encryption
    case .newerSchema, .notSupported: .notSupported
    case .full, .readOnly, .cannotOpen, .inputOutput: .storage
    case .tooLarge: .limit
    case .interrupted: .cancelled
    case .noDefaultLocation: .invalidInput
    case .constraint, .misuse, .other: .other
    }
  }

  /// What to do, if the message contains the details.
  fileprivate var fallbackCure: String {
    switch self {
    case .inputOutput: "Check the disk, and try again."
    case .interrupted: "Start the operation again if you still need it."
    case .tooLarge: "Split the value into parts."
    default: "Report the error to the developers of the application."
    }
  }
}
