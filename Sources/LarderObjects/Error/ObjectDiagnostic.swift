package import LarderCore

/// The diagnostics of the object store, each with what it reports.
package enum ObjectDiagnostic: String, DiagnosticName {
  /// Counts and times of requests could not be written. They are lost; no value is.
  case countsNotWritten
  /// Expired values could not be deleted. They stay absent for every call, and later changes delete them.
  case expiredNotDeleted
  /// The file system has no shared memory. The store reads each value from the file, because it cannot notice changes of
  /// other processes.
  case memoryNotUsed
  /// The disk has no room for the file's log. The store was opened for reading only.
  case storeReadOnly

  package static let module = "LarderObjects"

  package var form: (level: LarderDiagnostic.Level, fields: [String]) { (.warning, ["path"]) }

  fileprivate var text: String {
    switch self {
    case .countsNotWritten: "The counts of requests could not be written"
    case .expiredNotDeleted: "Expired values could not be deleted"
    case .memoryNotUsed: "The file system has no shared memory, so no value is held in memory"
    case .storeReadOnly: "The disk is full, so the store was opened for reading only"
    }
  }
}

extension LarderDiagnostic {
  static func store(_ name: ObjectDiagnostic, path: String, _ error: ObjectStoreError?) -> LarderDiagnostic {
    LarderDiagnostic(name, "\(name.text): \(error?.description ?? path)", ["path": path], error: error)
  }
}
