/// Why a request went to the error archive, and what is needed to look into it.
struct ArchivedFailure: Codable, Hashable, Sendable {
  enum Kind: String, Codable, Sendable {
    /// The service refused the request, or another of its change set.
    case refused
    /// The entity has changed at the service: 412.
    case conflict
    /// The answer was lost, and what became of the request cannot be told.
    case unknownOutcome
    /// The model has changed, and the request fits it no more.
    case unfitting
  }

  var kind: Kind
  var httpStatus: Int?
  var code: String?
  var message: String
  var innerError: String?
  var domain: String?
  /// As it was sent.
  var method: String
  var url: String
  var body: String?
  /// Seconds since 1970.
  var time: Double
  /// Of a conflict: the server's row that the change was based on, what this device made of it, and what the server has now.
  var base: EntityCells?
  var mine: EntityCells?
  /// Nil where ``theirsIsUnknown``, and where the server has it no more.
  var theirs: EntityCells?
  /// The server's version could not be had yet.
  var theirsIsUnknown = false
  /// Of a conflict: the change may have taken effect before another client changed the entity; nil for no.
  var mayHaveTakenEffect: Bool?
  /// Of one that is no conflict: whether the service was asked what it has, for that tells why it refused (404, 409, 410).
  var showsTheirs: Bool?

  /// Whether the three versions tell something.
  var hasVersions: Bool { kind == .conflict || showsTheirs == true }

  init(kind: Kind, message: String, method: String, url: String, time: Double) {
    self.kind = kind
    self.message = message
    self.method = method
    self.url = url
    self.time = time
  }
}
