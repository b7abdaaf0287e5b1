/// Why a request went to the error archive, with the data to analyze it.
struct ArchivedFailure: Codable, Hashable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// The service rejected the request, or another request of its change set.
    case rejected = "refused"
    /// The entity has changed at the service: 412.
    case conflict
    /// The response was lost, and the outcome cannot be determined; or the service failed (5xx).
    case unknownOutcome
    /// The model has changed, and the request no longer fits it.
    case unfitting

    /// The `Reason` in the error archive. It must not change, unlike the names of the cases.
    var reason: String {
      switch self {
      case .rejected: "Rejected"
      case .conflict: "Conflict"
      case .unknownOutcome: "UnknownOutcome"
      case .unfitting: "Unfitting"
      }
    }
  }

  var kind: Kind
  var httpStatus: Int?
  var code: String?
  var message: String
  var innerError: String?
  var domain: String?
  /// The method of the request as it was sent.
  var method: String
  var url: String
  var body: String?
  /// When it failed, in seconds since 1970.
  var time: Double
  /// For a conflict: the server's row that the change was based on, the row on this device, and the server's current
  /// row.
  var base: EntityCells?
  var mine: EntityCells?
  /// Nil if ``theirsIsUnknown``, and if the server no longer has the row.
  var theirs: EntityCells?
  /// Whether the server's version could not be read yet.
  var theirsIsUnknown = false
  /// For a conflict that a download has found: the number of the last request that was made before. Later ones know the
  /// server's version. Nil if none does.
  var lastUnaware: Int64?
  /// For a conflict: whether the change may have taken effect before another client changed the entity; nil for no.
  var mayHaveTakenEffect: Bool?
  /// For other failures: whether the server's version was read, because it explains the rejection (404, 409, 410).
  var showsTheirs: Bool?

  /// Whether the service failed (5xx), so that it may have executed the request. No look-up has tried to find out yet, unlike
  /// with other unknown outcomes.
  var isOfService: Bool { kind == .unknownOutcome && httpStatus ?? 0 >= 500 }

  /// Whether the three versions are meaningful.
  var hasVersions: Bool { kind == .conflict || showsTheirs == true }

  init(kind: Kind, message: String, method: String, url: String, time: Double) {
    self.kind = kind
    self.message = message
    self.method = method
    self.url = url
    self.time = time
  }
}
