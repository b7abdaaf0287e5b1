import CLarderSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension StorageError {
  /// Creates an error from the engine's result code. `system` is the error number of the operating system, 0 for none.
  init(code: Int32, system: Int32 = 0, message: String, sql: String? = nil, path: String?) {
    let category = Category(resultCode: code)
    let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
    if isOfSystem, let shortage = Category(shortage: system) {
      self.init(shortage, code: code, message: Self.shortageMessage(for: system), sql: sql, path: path)
    } else if category == .full, code != SQLITE_FULL {
      self.init(.full, code: code, message: Self.shortageMessage(for: ENOSPC), sql: sql, path: path)
    } else {
      self.init(category, code: code, message: message, sql: sql, path: path)
    }
  }

  /// Creates an error from the operating system's error number for a file, and from what cannot be done.
  package init(errno number: Int32, _ problem: String, path: String, otherwise: Category = .cannotOpen) {
    let reason =
      switch number {
      case ELOOP: "symbolic links are not followed"
      case _ where Category(shortage: number) != nil: Self.shortageMessage(for: number).lowercased(1)
      default: "errno \(number)"
      }
    self.init(Category(shortage: number) ?? otherwise, message: "\(problem) (\(reason))", path: path)
  }

  /// Whether the file is writable, but its folder, where the log is created, is not (`SQLITE_READONLY_DIRECTORY`).
  var isOfFolder: Bool { extendedCode == SQLITE_READONLY | 6 << 8 }

  private static func shortageMessage(for shortage: Int32) -> String {
    switch shortage {
    case EMFILE, ENFILE: "Too many files are open; 'ulimit -n' shows the limit of the process"
    default: "The disk is full"
    }
  }
}

extension String {
  fileprivate func lowercased(_ count: Int) -> String { prefix(count).lowercased() + dropFirst(count) }
}

extension StorageError.Category {
  /// Which resource is exhausted according to the system; nil for any other error.
  fileprivate init?(shortage number: Int32) {
    switch number {
    case ENOSPC, EDQUOT: self = .full
    case EMFILE, ENFILE: self = .inputOutput
    default: return nil
    }
  }

  init(resultCode: Int32) {
    self =
      switch resultCode & 0xFF {
      // The index of the log is allocated on the disk when the file is opened.
      case SQLITE_IOERR where resultCode == IOError.sharedSize: .full
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
      case SQLITE_CORRUPT: .corrupt
      case SQLITE_NOTADB: .notADatabase
      case SQLITE_FULL: .full
      case SQLITE_READONLY, SQLITE_PERM: .readOnly
      case SQLITE_CANTOPEN, SQLITE_AUTH: .cannotOpen
      case SQLITE_IOERR, SQLITE_NOMEM: .inputOutput
      case SQLITE_CONSTRAINT: .constraint
      case SQLITE_TOOBIG: .tooLarge
      case SQLITE_MISUSE, SQLITE_RANGE, SQLITE_ERROR, SQLITE_SCHEMA: .misuse
      case SQLITE_MISMATCH: .unexpectedValue
      case SQLITE_INTERRUPT, SQLITE_ABORT: .interrupted
      default: .other
      }
  }
}
