public import LarderCore

/// Why something kept on disk could not be read or written.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure, for decisions; the codes beside it are for diagnosis.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// Another connection holds the lock, and the time to wait ran out.
    case busy
    /// The file's content is damaged.
    case corrupt
    /// The file is no SQLite database.
    case notADatabase
    /// The file is encrypted with another key than the one given.
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
    /// The disk, or the size that the file may have, is full.
    case full
    /// The file, or its folder, may not be written.
    case readOnly
    /// The file cannot be opened: its folder is missing, or rights are.
    case cannotOpen
    /// The operating system failed to read or write.
    case inputOutput
    /// A rule of the schema was broken.
    case constraint
    /// A value is longer than the engine takes.
    case tooLarge
    /// The database has been closed.
    case closed
    /// The call was made wrongly: a statement that does not parse, a parameter that is not there.
    case misuse
    /// A value in the file is not of the kind it should be.
    case unexpectedValue
    /// Not done by this version; the message names it.
    case notSupported
    /// Work was ended by its caller.
    case interrupted
    /// Anything else.
    case other
    /// The store is suspended: nothing of it is open or locked until it is resumed.
    case suspended
  }

  /// The kind of failure.
  public let category: Category
  /// The engine's primary result code; 0 where the engine was not asked.
  public let code: Int32
  /// The engine's extended result code; 0 where the engine was not asked.
  public let extendedCode: Int32
  /// What the engine or this library says about it.
  public let message: String
  /// The statement, with its parameters' places but without their values; nil where there was none.
  public let sql: String?
  /// The path of the file; nil for a database in memory.
  public let file: String?

  init(
    _ category: Category, code: Int32 = 0, message: String, sql: String? = nil, file: String?
  ) {
    self.category = category
    self.code = code & 0xFF
    extendedCode = code
    self.message = message
    self.sql = sql
    self.file = file
  }

  /// Whether the description says what to do.
  package var tellsCure: Bool { category.cure != nil }

  /// What happened, where, and the cure.
  public var description: String {
    let place = file.map { " (\($0))" } ?? ""
    let number = extendedCode == 0 ? "" : " [SQLite \(extendedCode)]"
    let text = "\(ErrorExplanation.clause(message))\(number)\(place)"
    return category.cure.map { "\(text). \($0)" } ?? text
  }
}

extension StorageError.Category {
  var cure: String? {
    switch self {
    case .busy: "Another connection is writing; try again."
    case .corrupt: "The file is damaged. Restore it from a copy; removing it loses what is in it alone."
    case .notADatabase: "The file is no database; move it away or choose another path."
    case .wrongKey: "Give the key that it was encrypted with."
    case .encrypted: "Give its key."
    case .notEncrypted: "Leave the key out, encrypt the file first, or choose another path."
    case .foreignFile: "It belongs to another application; choose another path."
    case .newerSchema: "Update this program, or choose another path."
    case .inUse: "Close the other store first, or choose another path."
    case .full: "Make room on the disk."
    case .readOnly, .cannotOpen: "Check the path and its permissions."
    case .closed: "Open it first."
    case .suspended: "Call resume() when the application is active again."
    case .inputOutput, .constraint, .tooLarge, .misuse, .unexpectedValue, .notSupported, .interrupted, .other: nil
    }
  }
}

extension StorageError {
  /// A file on a disk that was full when it was opened, so that it is only read.
  static func fullSinceOpening(_ file: String) -> StorageError {
    StorageError(
      .full, message: "The disk was full when the file was opened; open it again when there is room.", file: file)
  }

  /// A file that is not in use any more; nil for one that is.
  static func unusable(_ file: String, _ use: StoreUse) -> StorageError? {
    switch use {
    case .open: nil
    case .suspended: StorageError(.suspended, message: "The store is suspended", file: file)
    case .closed: StorageError(.closed, message: "The database is closed", file: file)
    }
  }

  /// A file that cannot be opened or made.
  package static func cannotOpen(_ file: String, _ message: String) -> StorageError {
    StorageError(.cannotOpen, message: message, file: file)
  }

  /// A file that can only be read where it must be written to.
  package static func readOnly(_ file: String, _ message: String) -> StorageError {
    StorageError(.readOnly, message: message, file: file)
  }

  /// A file whose content is damaged.
  package static func damaged(_ file: String, _ message: String) -> StorageError {
    StorageError(.corrupt, message: message, file: file)
  }

  /// A file that belongs to something else.
  package static func foreign(_ file: String) -> StorageError {
    StorageError(.foreignFile, message: "The file is not one of this library's", file: file)
  }
}

extension StorageError {
  /// A file that another store or process has in use.
  package static func inUse(_ file: String) -> StorageError {
    StorageError(.inUse, message: "The file is in use by another store or process", file: file)
  }

  /// A file that another process does not stop writing to.
  package static func locked(_ file: String) -> StorageError {
    StorageError(.busy, message: "Another process holds the file's lock all the time", file: file)
  }

  /// Something that this version, or the file system, does not do.
  package static func notSupported(_ file: String, _ message: String) -> StorageError {
    StorageError(.notSupported, message: message, file: file)
  }

  /// A transaction that its own work gave up.
  package static func givenUp(_ file: String) -> StorageError {
    StorageError(.interrupted, message: "The transaction was given up by its own work", file: file)
  }
}

extension StorageError {
  /// A file that needs a key.
  package static func encrypted(_ file: String) -> StorageError {
    StorageError(.encrypted, message: "The file is encrypted, and no key was given", file: file)
  }

  /// A file that has no key.
  package static func notEncrypted(_ file: String) -> StorageError {
    StorageError(.notEncrypted, message: "The file is not encrypted, and a key was given", file: file)
  }

  /// A file that another key opens.
  package static func wrongKey(_ file: String) -> StorageError {
    StorageError(.wrongKey, message: "The file is encrypted with another key", file: file)
  }
}

extension StorageError: LarderError {
  /// The stable number of the category, from 1 in the order of its cases; ``extendedCode`` is the engine's.
  public var errorIdentity: ErrorIdentity {
    ErrorIdentity((Category.allCases.firstIndex(of: category) ?? 0) + 1, category.rawValue, category.shared)
  }

  /// Whether another connection holds the lock.
  public var isTransient: Bool { category == .busy }

  /// What happened, where, and the cure.
  public var explanation: ErrorExplanation {
    let place = file.map { " (\($0))" } ?? ""
    let number = extendedCode == 0 ? "" : " [SQLite \(extendedCode)]"
    return ErrorExplanation(
      "\(ErrorExplanation.clause(message))\(number)\(place)", cure: category.cure ?? category.fallbackCure)
  }
}

extension StorageError.Category {
  /// The category of all errors of the package.
  fileprivate var shared: ErrorIdentity.Category {
    switch self {
    case .busy, .inUse, .closed, .suspended: .state
    case .corrupt, .notADatabase, .foreignFile, .unexpectedValue: .invalidData
    case .wrongKey, .encrypted, .notEncrypted: .encryption
    case .newerSchema, .notSupported: .notSupported
    case .full, .readOnly, .cannotOpen, .inputOutput: .storage
    case .tooLarge: .limit
    case .interrupted: .cancelled
    case .constraint, .misuse, .other: .other
    }
  }

  /// What to do where the message has to say the rest.
  fileprivate var fallbackCure: String {
    switch self {
    case .inputOutput: "Check the disk, and try again."
    case .interrupted: "Begin it again if it is still wanted."
    case .tooLarge: "Keep the value in parts."
    default: "Report it to the developers of the application."
    }
  }
}
