import LarderCore

// Remarks as diagnostics.
extension DownloadNote {
  /// The remark about the download of a defining query.
  func diagnostic(of query: String) -> LarderDiagnostic {
    let (name, fields, error) = parts
    return LarderDiagnostic(
      name, "Defining query '\(query)': \(description)", fields.merging(["definingQuery": query]) { _, new in new },
      error: error)
  }

  private var parts: (OfflineDiagnostic, [String: String?], OfflineODataError?) {
    switch self {
    case .resumed(_, let pages, _): (.downloadResumed, ["pages": String(pages)], nil)
    case .stagingTooOld: (.stagingTooOld, [:], nil)
    case .deltaExpired(let status): (.deltaExpired, ["status": String(status)], nil)
    case .deltaUnusable(let error): (.deltaUnusable, [:], error)
    case .deltaIncomplete: (.deltaIncomplete, [:], nil)
    case .linkShown(let link): (.linkExpanded, ["link": link], nil)
    case .linkNotDownloaded(let link): (.linkNotExpanded, ["link": link], nil)
    case .countsDiffer(let service, let store):
      (.countsDiffer, ["serviceRows": String(service), "storeRows": String(store)], nil)
    case .optionsRejected(let status, let tracking, let count, let pageSize):
      (
        .optionsRejected,
        ["status": String(status), "options": Self.list(tracking: tracking, count: count, pageSize: pageSize)], nil
      )
    case .pageRejected(let status): (.pageRejected, ["status": String(status)], nil)
    case .preferencesRejected(let status): (.preferencesRejected, ["status": String(status)], nil)
    case .pagesExpired(let status): (.pageExpired, ["status": String(status)], nil)
    case .pageUnusable(let error): (.pageUnusable, [:], error)
    case .rowsMoved: (.rowsMoved, [:], nil)
    case .unstable(let count, let rows): (.countUnreliable, ["count": String(count), "rows": String(rows)], nil)
    case .clientPaging(let size): (.pagesRequested, ["size": String(size)], nil)
    case .clientPagingIgnored: (.pagingIgnored, [:], nil)
    case .containerDeleted: (.containerDeleted, [:], nil)
    case .excessFractionalDigits(_, let count): (.valuesTooPrecise, ["count": String(count)], nil)
    case .keysRepeated(_, let count): (.keysRepeated, ["count": String(count)], nil)
    case .undeclaredProperties(let counts): (.undeclaredProperties, Self.fields(counts), nil)
    case .undeclaredTypes(let counts): (.undeclaredTypes, Self.fields(counts), nil)
    case .rawValues(_, let count): (.rawValuesKept, ["count": String(count)], nil)
    case .unknownKeys(_, let count): (.unknownKeys, ["count": String(count)], nil)
    case .pendingRowsChanged(let count): (.pendingRowsChanged, ["count": String(count)], nil)
    }
  }

  /// The first names, and the sum of all numbers.
  private static func fields(_ counts: [String: Int64]) -> [String: String?] {
    ["names": counts.keys.sorted().prefix(20).joined(separator: ", "), "count": String(counts.values.reduce(0, +))]
  }
}
