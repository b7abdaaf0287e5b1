import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// What the service says of an entity: in the answer to a change, or when it is read.
struct ServerResponse: Sendable {
  /// The entity, where the answer holds it.
  var entity: ODataEntity?
  /// Its ETag.
  var etag: String?
  /// Where it is found.
  var location: String?
  /// Whether it was read behind the change: it may hold what other clients have changed since.
  var isLookedUp = false
  /// Of one that was looked up: the change was answered under its ETag just before, so what was found is its own.
  var isGuarded = false
  /// Of one that was looked up: it has other values than were sent, which another client has set since.
  var isLaterVersion = false
  /// Of the stream that a request changes, where the service says more of it than the entity tells.
  var stream: StreamVersion?

  /// Whether its version, or one that it leaves out, may hold links that other clients have set since.
  var mayHideLinks: Bool { etag == nil || isLookedUp && !isGuarded }

  init(entity: ODataEntity? = nil, etag: String? = nil, location: String? = nil) {
    self.entity = entity
    self.etag = etag
    self.location = location
  }

  /// Reads an answer; content that is no entity, or cannot be read, is left out.
  init(_ response: ODataSingleResponse, model: EdmModel) {
    if !response.payloadBytes.isEmpty, case .entity(let entity)? = try? response.payload(model: model) {
      self.entity = entity
    }
    etag = entity?.etag ?? response.etag
    location = response.fields["OData-EntityId"] ?? response.fields["DataServiceId"] ?? response.fields[.location]
    location = entity?.id ?? entity?.editLink ?? location
  }

  /// As cells of a table: properties, key and ETag, as far as they are told; nil where nothing is.
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

/// What becomes of a request that was sent or looked up.
enum RequestOutcome: Sendable {
  /// The service has done it.
  case done(ServerResponse)
  /// It goes to the archive; `theirs` is the server's version of the entity where that is known now.
  case archived(ArchivedFailure, theirs: ServerVersion = .unknown)
  /// It waits for the next upload, or for another send in this one, in the state that its entry has.
  case queued
  /// What became of it is not known.
  case inDoubt
  /// It is sent again on top of the server's version, changed where `request` says so.
  case again(ServerVersion, QueuedRequest?)
  /// It is given up for the server's version.
  case discarded(ServerVersion)

  /// Whether the service has other rows since, or the store takes newer ones with it, than a download has read before.
  ///
  /// What the service has refused, and what was never sent, changes nothing there.
  var outdatesDownloads: Bool {
    switch self {
    case .queued, .inDoubt: false
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

    var isKnown: Bool { if case .unknown = self { false } else { true } }
  }
}

extension ArchivedFailure {
  /// The failure of a request that the service, or this library, refuses.
  init(_ error: ODataServiceError, kind: Kind, _ sent: SentRequest, time: Int64) {
    self.init(
      kind: kind,
      message: error.payload?.message ?? error.description + (error.words.map { ": " + $0 } ?? ""), method: sent.method,
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

/// A request as it was sent, for people.
struct SentRequest: Sendable, Hashable {
  var method: String
  var url: String
  var body: String?
}
