import LarderOData

/// What a defining query and the service's metadata say about its download before any request is sent.
struct QueryTraits: Sendable, Hashable {
  /// What the metadata says about a feature.
  enum Support: Sendable, Hashable {
    case announced
    case denied
    /// The metadata does not say. The download finds out.
    case unknown
  }

  var version: ODataVersion
  /// False for one entity: a key, a singleton, a to-one navigation property.
  var isCollection = true
  /// Whether the query itself has `$top` or `$skip`. The rows in the window then change with every change before it, so
  /// no delta can report them.
  var hasWindow = false
  /// Whether the query has `$filter` or `$search`.
  var hasFilter = false
  /// Whether the query has `$expand`.
  var hasExpand = false
  /// Change tracking (`Capabilities.ChangeTracking`).
  var tracking = Support.unknown
  /// `$count` (`Capabilities.CountRestrictions`, `sap:countable`).
  var counting = Support.unknown
  /// `$top` and `$skip` (`Capabilities.TopSupported`, `SkipSupported`, `sap:pageable`).
  var paging = Support.unknown
  /// The page size in rows that the application has set.
  var pageSize: Int?
  /// False if the application wants no delta links for the query.
  var wantsTracking = true

  /// Whether the download requests and follows a delta link.
  ///
  /// V2 has no rule that a delta reports changes of expanded entities, and existing services do not report them.
  var requestsDeltaLink: Bool {
    isCollection && !hasWindow && wantsTracking && tracking != .denied && !(version < .v4 && hasExpand)
  }

  /// Whether the download asks the service for the number of rows.
  var requestsCount: Bool { isCollection && !hasWindow && counting != .denied }

  /// Whether the client may divide the result into pages with `$top` and `$skip`.
  var canPage: Bool { isCollection && !hasWindow && paging != .denied }

  /// Whether the rows must be counted after a delta, because it may not report all removed rows. V2's JSON has no
  /// standard form for deletions, and with a filter, services forget to report rows that no longer match it.
  func deltaNeedsCount(isAtom: Bool) -> Bool {
    requestsCount && (hasFilter || (version < .v4 && !isAtom))
  }
}
