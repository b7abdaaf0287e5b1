import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// The service's version of an entity: from the response to a change, or from a read.
struct ServerResponse: Sendable {
  /// The entity, if the response contains it.
  var entity: ODataEntity?
  /// The ETag of the entity.
  var etag: String?
  /// The URL of the entity.
  var location: String?
  /// Whether it was read after the change, so that it may contain later changes of other clients.
  var isLookedUp = false
  /// For a look-up: whether the change had just been accepted under its ETag, so that the entity read is the one that
  /// it wrote.
  var isGuarded = false
  /// For a look-up: whether it has values that differ from those sent, which another client has set since.
  var isLaterVersion = false
  /// The version of the stream that a request changes, if the service reports more about it than the entity contains.
  var stream: StreamVersion?

  /// Whether its version, or a version that it leaves out, may include links that other clients have set since.
  var mayHideLinks: Bool { etag == nil || isLookedUp && !isGuarded }

  init(entity: ODataEntity? = nil, etag: String? = nil, location: String? = nil) {
    self.entity = entity
    self.etag = etag
    self.location = location
  }

  /// Reads a response. Content that is not an entity, or cannot be read, is left out.
  init(_ response: ODataSingleResponse, model: EdmModel) {
    if !response.payloadBytes.isEmpty, case .entity(let entity)? = try? response.payload(model: model) {
      self.entity = entity
    }
    etag = entity?.etag ?? response.etag
    location = response.fields["OData-EntityId"] ?? response.fields["DataServiceId"] ?? response.fields[.location]
    location = entity?.id ?? entity?.editLink ?? location
  }

  /// Removes a location that is that of the set to which a creation was sent. Some services return it.
  mutating func removeLocation(of set: String) {
    guard let name = EntityID.segments(set).last?.name, let last = location.flatMap({ EntityID.segments($0).last }),
      last.name == name, last.key == nil
    else { return }
    location = nil
  }

  /// The entity as cells of a table: its properties, key and ETag, as far as the response contains them; nil if it
  /// contains none.
  func cells(in table: EntityTable, _ plan: ReplicaPlan) -> EntityCells? {
    var cells = entity.flatMap { try? EntityCells(entity: $0, in: table, plan: plan) } ?? EntityCells()
    if let location, let key = EntityID.key(of: location, in: table, model: plan.model) {
      for (number, value) in zip(table.key, key) where cells[table.columns[number].name] == nil {
        cells[table.columns[number].name] = value
      }
    }
    if let etag { cells[.etag] = .text(etag) }
    if let stream { cells.take(stream) }
    return cells.isEmpty ? nil : cells
  }
}

/// The result of a request that was sent or looked up.
enum RequestOutcome: Sendable {
  /// The service has executed it.
  case done(ServerResponse)
  /// It goes to the archive. `theirs` is the server's version of the entity, if it is known now.
  case archived(ArchivedFailure, theirs: ServerVersion = .unknown)
  /// It stays queued for the next upload, or for another send in this one, in the state that its entry has.
  case queued
  /// Its outcome is not known.
  case inDoubt
  /// The service has accepted it, and may execute it later: the next upload looks it up.
  case accepted
  /// It is sent again on top of the server's version, in changed form if the request is not nil.
  case again(ServerVersion, QueuedRequest?)
  /// It is discarded in favor of the server's version.
  case discarded(ServerVersion)

  /// Whether rows that an interrupted download has read before are now outdated: the service has changed them, or the
  /// store has taken newer ones.
  ///
  /// Requests that were rejected, or never sent, change nothing at the service.
  var outdatesDownloads: Bool {
    switch self {
    case .queued, .inDoubt, .accepted: false
    case .done: true
    case .archived(let failure, let theirs): failure.kind == .unknownOutcome || theirs.isKnown
    case .again(let theirs, _), .discarded(let theirs): theirs.isKnown
    }
  }

  /// The server's version of an entity.
  enum ServerVersion: Sendable {
    case unknown
    case gone
    case existing(ServerResponse)
    /// The service returns another entity, which has this path.
    case other(String)

    var isKnown: Bool {
      switch self {
      case .gone, .existing: true
      case .unknown, .other: false
      }
    }

    init(_ lookupResult: EntityLookup.LookupResult) {
      switch lookupResult {
      case .existing(let serverResponse): self = .existing(serverResponse)
      case .gone: self = .gone
      case .other(let path): self = .other(path)
      case .inconclusive: self = .unknown
      }
    }
  }
}

extension ArchivedFailure {
  /// The failure of a request that the service, or this library, rejects.
  init(_ error: ODataServiceError, kind: Kind, _ sent: SentRequest, time: Int64) {
    self.init(
      kind: kind,
      message: error.payload?.fullMessage ?? error.description, method: sent.method,
      url: sent.url,
      time: Double(time))
    httpStatus = error.httpStatus
    code = error.payload?.code ?? ""
    innerError = error.payload?.innerError.map { value in
      var writer = JSONWriter()
      return (try? writer.canonical(value, type: .abstract(.untyped), model: nil)) == nil
        ? String(describing: value) : String(decoding: writer.bytes, as: UTF8.self)
    }
    domain = error.payload == nil ? "larder" : "odata"
    body = sent.body
  }
}

/// A request as it was sent, in readable form.
struct SentRequest: Sendable, Hashable {
  var method: String
  var url: String
  var body: String?
}
