public import LarderOData

/// A request of an entity set or entity, with the type of its result. It is sent on its own, or with others in a batch.
///
/// ```swift
/// let (order, open) = try await store.batch(shop.orders[1].reading(), shop.orders.filter { $0.isOpen }.reading())
/// try await store.changeSet(shop.orders.updating(order), shop.items.deleting(item))
/// ```
public struct ODataTypedRequest<Result: Sendable>: Sendable {
  let store: any ODataStore
  /// Nil if there is nothing to send.
  let request: ODataSingleRequest?
  let result: @Sendable (ODataSingleResponse?) async throws -> Result
  /// Reads the result without a batch; nil for requests that are sent alone as they are sent in a batch.
  var reading: (@Sendable () async throws -> Result)?

  /// Sends the request alone.
  public func send() async throws -> Result {
    if let reading { return try await reading() }
    guard let request else { return try await result(nil) }
    return try await result(store.execute(single: request))
  }
}

extension ODataEntitySet {
  /// A request that reads all entities.
  public func reading() throws -> ODataTypedRequest<[Entity]> { try reading(query) }

  func reading<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) throws -> ODataTypedRequest<[Row]> {
    let path = try store.checkedText(query)
    return ODataTypedRequest(
      store: store, request: .read(path),
      result: { [store] response in
        guard let rows = try await store.decoded([Row].self, response) else {
          throw ODataServiceError.notFound(path)
        }
        return rows
      }, reading: { try await rows(query) })
  }

  func creating<Created: ODataDescribed & Decodable & Sendable>(
    _ entity: ODataEntity, as type: Created.Type
  ) throws -> ODataTypedRequest<Created> {
    creating(.create(entity, in: try store.text(ODataQuery<Entity>(path: query.path))), as: type)
  }

  func creating<Created: ODataDescribed & Decodable & Sendable>(
    _ request: ODataSingleRequest, as type: Created.Type
  ) -> ODataTypedRequest<Created> {
    var request = request
    request.returnPreference = .representation
    return ODataTypedRequest(store: store, request: request) { [self] response in
      let problem: any Error
      do {
        if query.selectsDeclared {
          if let created = try await selected(type, response) { return created }
        } else if let created = try await store.decoded(type, response) {
          return created
        }
        // No content: the service names the entity (OData Protocol 4.01 §8.3.3, §8.3.4).
        if let url = response?.createdEntity {
          let created = try await store.read(type, url + options(type, after: url))
          if let created { return created }
        }
        problem = ODataServiceError(
          .malformedResponse("the response neither contains the created entity nor names it"), operation: "create",
          url: response?.url, response: response)
      } catch { problem = error }
      throw ODataServiceError.unread(problem, after: "create", "created", response)
    }
  }

  /// The query options with which the entity that a service names is read, to append to its URL.
  private func options<Created: ODataDescribed>(_ type: Created.Type, after url: String) throws -> String {
    let text = try store.text(query.at(query.path, as: type))
    guard let mark = text.firstIndex(of: "?") else { return "" }
    return (url.contains("?") ? "&" : "?") + text[text.index(after: mark)...]
  }

  /// Reads the created entity with all properties that its type declares: a response to a creation has those that the
  /// service returns by default. Nil if the response has no key.
  private func selected<Created: ODataDescribed & Decodable & Sendable>(
    _ type: Created.Type, _ response: ODataSingleResponse?
  ) async throws -> Created? {
    func key<Keyed: ODataKeyed>(_ type: Keyed.Type) async throws -> ODataPath? {
      try await store.decoded(Keyed.Key.self, response).map { ODataQuery<Keyed>(path: query.path).key($0).path }
    }
    guard let keyed = type as? any ODataKeyed.Type, var path = try await key(keyed) else { return nil }
    if Created.odataTypeName != Entity.odataTypeName { path = path.appending(.qualifiedName(Created.odataTypeName)) }
    return try await ODataEntityReference<Created>(store, query.at(path, as: type)).get()
  }
}

extension ODataEntitySet where Entity: ODataCreatable {
  /// A request that creates an entity, as ``create(_:)`` does.
  public func creating(_ entity: Entity.Create) throws -> ODataTypedRequest<Entity> {
    try creating(entity.odataEntity(of: nil), as: Entity.self)
  }
}

extension ODataEntitySet where Entity: ODataBaseType {
  /// A request that creates an entity of a derived type, as ``create(_:of:)`` does.
  public func creating<Derived: ODataCreatable & Decodable & Sendable>(
    _ entity: Derived.Create, of type: Derived.Type
  ) throws -> ODataTypedRequest<Derived> { try creating(entity.odataEntity(of: Derived.odataTypeName), as: type) }
}

extension ODataEntitySet where Entity: ODataTracked {
  /// A request that changes an entity, as ``update(_:)`` does.
  public func updating(_ entity: Entity) throws -> ODataTypedRequest<Entity> { try self[entity].updating(entity) }
}

extension ODataEntitySet where Entity: ODataUpdatable & ODataVersioned {
  /// A request that changes properties of an entity, as ``update(_:_:)`` does.
  public func updating(_ entity: Entity, _ changes: Entity.Update) throws -> ODataTypedRequest<Void> {
    try self[entity].updating(changes, ifMatch: entity.odataState.etag)
  }
}

extension ODataEntityReference where Entity: ODataTracked {
  /// A request that changes the entity, as `update(_:)` does.
  public func updating(_ entity: Entity) throws -> ODataTypedRequest<Entity> {
    let changes = entity.odataChanges
    let request = ODataSingleRequest.update(
      try path(), to: ODataEntity(properties: changes), ifMatch: entity.odataState.etag)
    return ODataTypedRequest(store: store, request: changes.isEmpty ? nil : request) { [self] response in
      guard let response else { return entity }
      do {
        // The response has the properties that the service returns by default.
        let received = query.selectsDeclared ? nil : try await store.decoded(Entity.self, response)
        var changed = entity
        changed.odataSent(etag: response.etag)
        changed = received ?? changed
        // Without the new ETag, the next update would have no condition.
        if changed.odataState.etag != nil || entity.odataState.etag == nil { return changed }
        return try await ODataEntityReference(store, query.at(query.path, as: Entity.self)).get()
      } catch {
        throw ODataServiceError.unread(error, after: "update", "changed", response)
      }
    }
  }
}

extension ODataEntityReference where Entity: ODataUpdatable {
  /// A request that changes the given properties; with an ETag, only if the entity still has that version.
  public func updating(_ changes: Entity.Update, ifMatch: String? = nil) throws -> ODataTypedRequest<Void> {
    try changing(.update(path(), to: changes.odataEntity(), ifMatch: ifMatch))
  }
}

extension ODataEntitySet where Entity: ODataKeyed, Entity.ODataDeletion == ODataAllowed {
  /// A request that deletes an entity, as ``delete(_:)`` does.
  public func deleting(_ entity: Entity) throws -> ODataTypedRequest<Void> {
    try self[entity].deleting(ifMatch: (entity as? any ODataVersioned)?.odataState.etag)
  }
}

extension ODataEntityReference {
  /// A request that reads the entity.
  public func reading() throws -> ODataTypedRequest<Entity> { try reading(query) }

  func reading<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) throws -> ODataTypedRequest<Row> {
    let path = try store.checkedText(query)
    return ODataTypedRequest(
      store: store, request: .read(path),
      result: { [store] response in
        guard let row = try await store.decoded(Row.self, response) else { throw ODataServiceError.notFound(path) }
        return row
      }, reading: { try await row(query) })
  }
}

extension ODataEntityReference {
  /// A request whose result is that it succeeds.
  func changing(_ request: ODataSingleRequest) -> ODataTypedRequest<Void> {
    ODataTypedRequest(store: store, request: request) { _ in }
  }
}

extension ODataEntityReference where Entity.ODataDeletion == ODataAllowed {
  /// A request that deletes the entity; with an ETag, only if it still has that version.
  public func deleting(ifMatch: String? = nil) throws -> ODataTypedRequest<Void> {
    try changing(.delete(path(), ifMatch: ifMatch))
  }
}

extension ODataStore {
  /// Sends requests in one batch. Each has its own result: one that fails does not change the others.
  public func batch<each Value: Sendable>(
    _ request: repeat ODataTypedRequest<each Value>
  ) async throws -> (repeat Result<each Value, any Error>) {
    let responses = BatchResponses(self)
    for request in repeat each request { try responses.add(request) }
    try await responses.sendBatch()
    return (repeat await responses.next(each request))
  }

  /// Sends requests in one batch, and returns their results in the same order.
  public func batch<Value: Sendable>(
    _ requests: [ODataTypedRequest<Value>]
  ) async throws -> [Result<Value, any Error>] {
    let responses = BatchResponses(self)
    for request in requests { try responses.add(request) }
    try await responses.sendBatch()
    var results: [Result<Value, any Error>] = []
    for request in requests { results.append(await responses.next(request)) }
    return results
  }

  /// Sends changes that succeed or fail together (OData Protocol 4.01 §11.7.4). Throws the error of the one that failed.
  @discardableResult
  public func changeSet<each Value: Sendable>(
    _ request: repeat ODataTypedRequest<each Value>
  ) async throws -> (repeat each Value) {
    let responses = BatchResponses(self)
    for request in repeat each request { try responses.add(request) }
    try await responses.sendChangeSet()
    return (repeat try await responses.next(each request).get())
  }

  /// Sends changes that succeed or fail together, and returns their results in the same order.
  @discardableResult
  public func changeSet<Value: Sendable>(_ requests: [ODataTypedRequest<Value>]) async throws -> [Value] {
    let responses = BatchResponses(self)
    for request in requests { try responses.add(request) }
    try await responses.sendChangeSet()
    var results: [Value] = []
    for request in requests { results.append(try await responses.next(request).get()) }
    return results
  }

  fileprivate func decoded<Value: Decodable>(
    _ type: Value.Type, _ response: ODataSingleResponse?
  ) async throws -> Value? {
    guard let response else { return nil }
    return try await ResultReader(self).result(response).decoded(type)
  }
}

/// The responses to the requests of a batch, taken in their order.
private final class BatchResponses {
  private let store: any ODataStore
  private var requests: [ODataSingleRequest] = []
  /// The changes that the store rejects, by their places among the requests.
  private var rejections: [Int: any Error] = [:]
  private var results: ArraySlice<Result<ODataSingleResponse, any Error>> = []

  init(_ store: any ODataStore) { self.store = store }

  func add<Value>(_ request: ODataTypedRequest<Value>) throws(ODataServiceError) {
    guard request.store === store else {
      throw ODataServiceError(.invalidRequest("the requests of a batch must be of its own store"), operation: "batch")
    }
    if let request = request.request { requests.append(request) }
  }

  func sendBatch() async throws {
    guard !requests.isEmpty else { return }
    for (place, request) in requests.enumerated() {
      do { try (store as? any RestrictedStore)?.check(change: request) } catch { rejections[place] = error }
    }
    let sent = requests.indices.filter { rejections[$0] == nil }
    var responses = try await send(sent.map { requests[$0] })[...]
    results = requests.indices.map { rejections[$0].map { .failure($0) } ?? responses.removeFirst() }[...]
  }

  private func send(
    _ requests: [ODataSingleRequest]
  ) async throws -> [Result<ODataSingleResponse, any Error>] {
    guard !requests.isEmpty else { return [] }
    // Before V4, changes are possible only in change sets (OData V2 Batch Processing §2.2).
    let needsChangeSets = store.model.map { $0.version < .v4 } ?? false
    let items = requests.map { request -> ODataBatchRequest.Item in
      needsChangeSets && !request.isRead ? .changeSet([request]) : .single(request)
    }
    let response = try await store.execute(batch: ODataBatchRequest(items, continuesOnError: true))
    return requests.indices.map { place in
      switch place < response.slots.count ? response.slots[place] : nil {
      case .response(let response)?: .success(response)
      case .changeSet(let responses)? where responses.count == 1: .success(responses[0])
      case .failure(let error)?: .failure(error)
      case .changeSet?, nil: .failure(ODataServiceError(.notProcessed, operation: "batch"))
      }
    }
  }

  func sendChangeSet() async throws {
    guard !requests.isEmpty else { return }
    guard !requests.contains(where: \.isRead) else {
      throw ODataServiceError(.invalidRequest("a change set can contain only changes"), operation: "batch")
    }
    let response = try await store.execute(batch: ODataBatchRequest([.changeSet(requests)]))
    switch response.slots.first ?? nil {
    case .changeSet(let responses)?: results = responses.map { .success($0) }[...]
    case .failure(let error)?: throw error
    case .response?, nil: throw ODataServiceError(.notProcessed, operation: "batch")
    }
  }

  func next<Value>(_ request: ODataTypedRequest<Value>) async -> Result<Value, any Error> {
    do {
      guard request.request != nil else { return .success(try await request.result(nil)) }
      guard let result = results.popFirst() else { throw ODataServiceError(.notProcessed, operation: "batch") }
      return .success(try await request.result(result.get()))
    } catch { return .failure(error) }
  }
}
