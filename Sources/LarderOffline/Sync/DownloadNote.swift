/// A remark about a download, for the event log.
enum DownloadNote: Sendable, Hashable {
  /// The download resumes where it was interrupted.
  case resumed(DownloadMachine.Staging, pages: Int, rows: Int64)
  /// The staged rows are too old to resume the download.
  case stagingTooOld
  /// The service no longer accepts the delta link: everything is read.
  case deltaExpired(status: Int)
  /// A delta could not be read or applied: everything is read.
  case deltaUnusable(OfflineODataError)
  /// A delta does not say which rows are no longer expanded: everything is read.
  case deltaIncomplete
  /// The service now expands a link that it did not expand before: everything is read.
  case linkShown(String)
  /// The service does not expand a link that the query requests: the link is not downloaded.
  case linkNotDownloaded(String)
  /// After a delta, the numbers of rows in the service and in the store differ: everything is read.
  case countsDiffer(serviceCount: Int64, storeCount: Int64)
  /// The service rejects tracking, the count, or a page size: the request is repeated without it.
  case optionsRejected(status: Int, tracking: Bool, count: Bool, pageSize: Bool = false)
  /// The service rejects its own link after a request with the count: the read starts again without the count.
  case pageRejected(status: Int)
  /// The service rejects preferences sent with its own link: the request is repeated without them.
  case preferencesRejected(status: Int)
  /// The service no longer accepts a page's link: the read starts again.
  case pagesExpired(status: Int)
  /// The page at which the read was interrupted cannot be read: the read starts again.
  case pageUnusable(OfflineODataError)
  /// The data changed between pages: the read starts again.
  case rowsMoved
  /// The data changed between pages again; the result is used as it is.
  case unstable(count: Int64, rows: Int64)
  /// The service does not divide its results into pages: the client requests pages with `$top` and `$skip`.
  case clientPaging(size: Int)
  /// The service ignores `$top` and `$skip`.
  case clientPagingIgnored
  /// The entity that contains the rows is deleted in the store: the rows have no place.
  case containerDeleted
  /// Values have more digits than their type allows, the first of them at an entity and property.
  case excessFractionalDigits(first: String, count: Int64)
  /// The response has properties that the metadata does not declare: they are not stored.
  case undeclaredProperties([String: Int64])
  /// The response has entities of types that the metadata does not declare: they are stored as their base type.
  case undeclaredTypes([String: Int64])
  /// Values that do not fit their declared type are kept as the service sent them, the first of them at an entity and
  /// property.
  case rawValues(first: String, count: Int64)
  /// Entities were left out because their keys do not fit their declared type, and no row was deleted for absence.
  case unknownKeys(first: String, count: Int64)
  /// The service has changed or removed entities with pending changes.
  case pendingRowsChanged(Int)
  /// Rows of a response have the key of an earlier row, the first of them with a key.
  case keysRepeated(first: String, count: Int64)
}

extension DownloadNote: CustomStringConvertible {
  /// The remark as a sentence.
  var description: String {
    switch self {
    case .resumed(.whole, let pages, let rows): "Resumes after page \(pages), with \(rows) rows."
    case .resumed(.changes, let pages, _): "Resumes after page \(pages) of the changes."
    case .stagingTooOld: "The download was interrupted too long ago to be resumed: it starts again."
    case .deltaExpired(let status): "The delta link has expired (HTTP \(status)): all rows are read."
    case .deltaUnusable(let error): "The delta cannot be used: all rows are read. \(error.errorMessage)"
    case .deltaIncomplete: "The delta does not say which rows are no longer expanded: all rows are read."
    case .linkShown(let link): "The service now expands \(link): all rows are read."
    case .linkNotDownloaded(let link): "The service does not expand \(link): these links are not downloaded."
    case .countsDiffer(let serviceCount, let storeCount):
      "The service has \(serviceCount) rows, the store \(storeCount) after the delta: all rows are read."
    case .optionsRejected(let status, let tracking, let count, let pageSize):
      "The service rejects \(DownloadNote.list(tracking: tracking, count: count, pageSize: pageSize)) (HTTP \(status))."
    case .pageRejected(let status):
      "The service rejects its own next page (HTTP \(status)): all rows are read again without $count."
    case .preferencesRejected(let status): "The service rejects preferences with its next page (HTTP \(status))."
    case .pagesExpired(let status): "The next page has expired (HTTP \(status)): all rows are read again."
    case .pageUnusable(let error): "The next page cannot be used: all rows are read again. \(error.errorMessage)"
    case .rowsMoved: "The data changed between pages: all rows are read again."
    case .unstable(let count, let rows): "The service repeatedly reports \(count) rows but returns \(rows)."
    case .clientPaging(let size): "The service does not send pages: the client requests \(size) rows at a time."
    case .clientPagingIgnored: "The service ignores $top and $skip."
    case .containerDeleted: "A pending change deletes the entity that contains the rows: they are not requested."
    case .excessFractionalDigits(let first, let count):
      "\(first)\(count > 1 ? " and \(count - 1) more values have" : " has") more than 12 fractional digits of a second: stored as received."
    case .undeclaredProperties(let counts):
      "Properties that the metadata does not declare are not stored: "
        + UndeclaredContent.list(counts, of: ("value", "values")) + "."
    case .undeclaredTypes(let counts):
      "Entities of types that the metadata does not declare are stored as entities of the declared type: "
        + UndeclaredContent.list(counts, of: ("entity", "entities")) + "."
    case .rawValues(let first, let count):
      "\(first)\(count > 1 ? " and \(count - 1) more values do" : " does") not fit the declared type: kept as received."
    case .unknownKeys(let first, let count):
      "\(first)\(count > 1 ? " and \(count - 1) more entities have keys" : " has a key") that does not fit the declared type: left out. No row was deleted for absence."
    case .pendingRowsChanged(let count):
      "The service has changed or removed \(count) \(count == 1 ? "entity" : "entities") with pending changes."
    case .keysRepeated(let first, let count):
      "\(count) \(count == 1 ? "row has" : "rows have") the key of an earlier row of the response, the first of them \(first): the last row with a key is kept."
    }
  }

  /// The rejected options, as text.
  static func list(tracking: Bool, count: Bool, pageSize: Bool) -> String {
    [tracking ? "change tracking" : nil, count ? "$count" : nil, pageSize ? "odata.maxpagesize" : nil]
      .compactMap(\.self).joined(separator: " and ")
  }
}
