package import LarderCore

/// The diagnostics of the offline store, each with what it reports.
package enum OfflineDiagnostic: String, DiagnosticName {
  /// The file or its folder cannot be written, or the disk is full; the store was opened for reading only.
  case storeReadOnly
  /// The first download failed; the store was opened with the rows that it has so far.
  case openedWithoutDownload
  /// The file system has no shared memory; changes of other processes are noticed within two seconds.
  case changesNotShared
  /// An operation could not be added to the event log; the operation itself was not affected.
  case eventNotLogged
  /// Leftovers of downloads could not be removed; they use disk space until a later opening or download removes them.
  case leftoversNotRemoved
  /// The service rejects batches; changes are sent one by one. Later uploads try batches again, after a day if the service
  /// does not support them.
  case batchesRejected
  /// The service rejects the identifiers of repeatable requests; they are left out until the store is closed.
  case requestIDsRejected
  /// The version of an entity at the service could not be read during an upload; the store continues without it.
  case lookUpFailed
  /// A download continues where it was interrupted.
  case downloadResumed
  /// A download was interrupted too long ago to continue; all rows are read again.
  case stagingTooOld
  /// The service no longer accepts a delta link; all rows are read.
  case deltaExpired
  /// A delta cannot be read or applied; all rows are read.
  case deltaUnusable
  /// A delta does not say which rows are no longer expanded; all rows are read.
  case deltaIncomplete
  /// The service now expands a link that it did not expand before; all rows are read.
  case linkExpanded
  /// The service does not expand a link that a defining query requests; the link is not downloaded.
  case linkNotExpanded
  /// After a delta, the service and the store have different numbers of rows; all rows are read.
  case countsDiffer
  /// The service rejects change tracking, `$count` or a page size; requests are sent without it.
  case optionsRejected
  /// The service rejects its own next link after a request with `$count`; all rows are read again without it.
  case pageRejected
  /// The service rejects preferences sent with its own next link; they are left out.
  case preferencesRejected
  /// The service no longer accepts a next link; all rows are read again.
  case pageExpired
  /// A page cannot be read; all rows are read again.
  case pageUnusable
  /// Rows were added or removed while pages were read; all rows are read again.
  case rowsMoved
  /// The service repeatedly reports another number of rows than it returns; the received rows are used.
  case countUnreliable
  /// The service does not divide its results into pages; the store requests pages with `$top` and `$skip`.
  case pagesRequested
  /// The service ignores `$top` and `$skip`; results are read without pages.
  case pagingIgnored
  /// A pending change deletes the entity that contains the rows of a query; they are not requested.
  case containerDeleted
  /// Values have more fractional digits than their type allows; they are stored as received.
  case valuesTooPrecise
  /// A response has properties that the metadata does not declare; they are not stored.
  case undeclaredProperties
  /// A response has entities of types that the metadata does not declare; they are stored as their declared type.
  case undeclaredTypes
  /// Values do not fit their declared type; they are kept as received.
  case rawValuesKept
  /// Entities were left out, because their keys do not fit their declared type; no row was deleted for absence.
  case unknownKeys
  /// The service has changed or removed entities with pending changes.
  case pendingRowsChanged
  /// Rows of a response have the key of an earlier one; the last row with a key is kept.
  case keysRepeated
  /// The service's model has changed, and pending changes do not fit it; they are in the error archive.
  case changesUnfitting

  package static let module = "LarderOffline"

  package var form: (level: LarderDiagnostic.Level, fields: [String]) {
    switch self {
    case .storeReadOnly, .changesNotShared: (.warning, ["path"])
    case .openedWithoutDownload, .leftoversNotRemoved: (.warning, ["path"])
    case .eventNotLogged: (.warning, ["path", "event"])
    case .batchesRejected: (.warning, ["status"])
    case .requestIDsRejected: (.warning, [])
    case .lookUpFailed: (.warning, ["url"])
    case .downloadResumed: (.info, ["definingQuery", "pages"])
    case .stagingTooOld, .rowsMoved, .containerDeleted: (.info, ["definingQuery"])
    case .deltaExpired, .pageExpired: (.info, ["definingQuery", "status"])
    case .deltaUnusable, .deltaIncomplete, .pageUnusable, .pagingIgnored: (.warning, ["definingQuery"])
    case .linkExpanded: (.info, ["definingQuery", "link"])
    case .linkNotExpanded: (.warning, ["definingQuery", "link"])
    case .countsDiffer: (.warning, ["definingQuery", "serviceRows", "storeRows"])
    case .optionsRejected: (.warning, ["definingQuery", "status", "options"])
    case .pageRejected, .preferencesRejected: (.warning, ["definingQuery", "status"])
    case .countUnreliable: (.warning, ["definingQuery", "count", "rows"])
    case .pagesRequested: (.info, ["definingQuery", "size"])
    case .keysRepeated: (.warning, ["definingQuery", "count"])
    case .changesUnfitting: (.warning, ["count"])
    case .undeclaredProperties, .undeclaredTypes: (.warning, ["definingQuery", "names", "count"])
    case .valuesTooPrecise, .pendingRowsChanged: (.info, ["definingQuery", "count"])
    case .rawValuesKept, .unknownKeys: (.warning, ["definingQuery", "count"])
    }
  }
}

extension LarderDiagnostic {
  static func storeReadOnly(path: String) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.storeReadOnly, "The store \(path) was opened for reading only, because it cannot be written.",
      ["path": path])
  }

  static func openedWithoutDownload(path: String, _ error: OfflineODataError) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.openedWithoutDownload,
      "The store \(path) was opened with the rows that it has, because the download failed: \(error.errorMessage)",
      ["path": path], error: error)
  }

  static func changesNotShared(path: String) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.changesNotShared,
      "The file system of \(path) has no shared memory: changes of other processes are noticed within two seconds.",
      ["path": path])
  }

  static func eventNotLogged(_ event: String, path: String, _ error: OfflineODataError) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.eventNotLogged, "The event log could not be written: \(error.errorMessage)",
      ["path": path, "event": event], error: error)
  }

  static func leftoversNotRemoved(path: String, _ error: OfflineODataError) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.leftoversNotRemoved, "Leftovers of downloads could not be removed: \(error.errorMessage)",
      ["path": path], error: error)
  }

  /// - Parameter error: the service's response to a batch; nil if it rejected another transaction without one.
  static func batchesRejected(_ error: (any LarderError)?) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.batchesRejected, "The service rejects batches: changes are sent one by one.",
      ["status": error?.exchange?.status.map(String.init)], error: error)
  }

  static func requestIDsRejected() -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.requestIDsRejected, "The service rejects the identifiers of repeatable requests.")
  }

  static func lookUpFailed(url: String, _ error: OfflineODataError) -> LarderDiagnostic {
    let url = LarderDiagnostic.url(url)
    return LarderDiagnostic(
      OfflineDiagnostic.lookUpFailed, "\(url) could not be read from the service: \(error.errorMessage)",
      ["url": url], error: error)
  }

  static func changesUnfitting(_ count: Int) -> LarderDiagnostic {
    LarderDiagnostic(
      OfflineDiagnostic.changesUnfitting,
      "The service's model has changed: \(count) pending \(count == 1 ? "change does" : "changes do") not fit it and \(count == 1 ? "is" : "are") in the error archive.",
      ["count": String(count)])
  }
}
