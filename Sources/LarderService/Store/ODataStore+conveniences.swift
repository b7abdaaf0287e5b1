import LarderHTTP
public import LarderOData

// Functions for common tasks: one call, one value. Values have the types of ``ODataStore/model``; without a model,
// numbers keep their digits and text stays text.
extension ODataStore {
  /// Reads one entity, such as `Products(1)`; nil if a single-valued navigation property leads to none.
  public func readEntity(_ path: String) async throws -> ODataEntity? {
    let request = ODataSingleRequest.read(path)
    let response = try await execute(single: request)
    switch try response.payload(model: model) {
    case .entity(let entity): return entity
    case .property(let property) where property.value == .null: return nil
    case let other: throw unexpected(other, expected: "an entity", in: response, to: request)
    }
  }

  /// Reads a collection of entities, or one page of it; its `nextLink` is the path of the next page.
  public func readEntitySet(_ path: String) async throws -> ODataEntityCollection {
    let request = ODataSingleRequest.read(path)
    let response = try await execute(single: request)
    switch try response.payload(model: model) {
    case .collection(let collection): return collection
    // An empty array does not show the type of its elements.
    case .property(let property) where property.value == .collection([]): return ODataEntityCollection()
    case let other: throw unexpected(other, expected: "a collection of entities", in: response, to: request)
    }
  }

  /// Reads a property, or calls a function that returns a value.
  public func readValue(_ path: String) async throws -> ODataValue {
    let request = ODataSingleRequest.read(path)
    let response = try await execute(single: request)
    switch try response.payload(model: model) {
    case .property(let property): return property.value
    case .count(let count): return .int64(count)
    case let other: throw unexpected(other, expected: "a value", in: response, to: request)
    }
  }

  /// Counts the entities of a collection. `path` has no `/$count`, but a query to filter them.
  public func readCount(_ path: String) async throws -> Int64 {
    let request = ODataSingleRequest.read(ODataSingleRequest.counting(path))
    let response = try await execute(single: request)
    guard case .count(let count) = try response.payload() else {
      throw ODataServiceError(
        .malformedResponse("a count must be plain text"), operation: "read", method: .get, url: response.url)
    }
    return count
  }

  /// Adds an entity to the collection at `path`.
  ///
  /// - Returns: the entity as the service created it; nil if the response has no content.
  @discardableResult
  public func create(_ entity: ODataEntity, in path: String) async throws -> ODataEntity? {
    try await changed(.create(entity, in: path))
  }

  /// Changes the entity at `path`: only the properties given, unless `method` is `replace`.
  ///
  /// - Returns: the changed entity, if the service returned it.
  @discardableResult
  public func update(
    _ path: String, to entity: ODataEntity, method: ODataSingleRequest.UpdateMethod = .patch, ifMatch: String? = nil
  ) async throws -> ODataEntity? {
    try await changed(.update(path, to: entity, method: method, ifMatch: ifMatch))
  }

  /// Deletes the entity at `path`.
  public func delete(_ path: String, ifMatch: String? = nil) async throws {
    _ = try await execute(single: .delete(path, ifMatch: ifMatch))
  }

  /// Adds the entity `target` to the references at `path`.
  public func createLink(_ path: String, to target: String) async throws {
    _ = try await execute(single: .createLink(path, to: target))
  }

  /// Makes `target` the entity to which the single-valued reference at `path` leads.
  public func updateLink(_ path: String, to target: String, ifMatch: String? = nil) async throws {
    _ = try await execute(single: .updateLink(path, to: target, ifMatch: ifMatch))
  }

  /// Removes the reference at `path`.
  public func deleteLink(_ path: String, ifMatch: String? = nil) async throws {
    _ = try await execute(single: .deleteLink(path, ifMatch: ifMatch))
  }

  /// Calls a function whose parameters are in `path`, and returns its result.
  public func invokeFunction(_ path: String) async throws -> ODataPayload {
    try await execute(single: .invokeFunction(path)).payload(model: model)
  }

  /// Calls an action and returns its result: the null value if it has none.
  @discardableResult
  public func invokeAction(
    _ path: String, parameters: [ODataProperty] = [], ifMatch: String? = nil
  ) async throws -> ODataPayload {
    let request = ODataSingleRequest.invokeAction(path, parameters: parameters, ifMatch: ifMatch)
    return try await execute(single: request).payload(model: model)
  }

  /// Reads the bytes of a media resource or stream property into memory.
  public func readMedia(_ path: String) async throws -> [UInt8] {
    try await execute(single: .readMedia(path)).payloadBytes
  }

  /// Adds a media entity to the collection at `path` by its bytes; `body` is `.bytes` or `.stream`.
  ///
  /// - Returns: the entity that belongs to the bytes; nil if the response has no content.
  @discardableResult
  public func createMedia(
    _ body: ODataRequestBody, in path: String, slug: String? = nil
  ) async throws -> ODataEntity? {
    try await changed(.createMedia(body, in: path, slug: slug))
  }

  /// Replaces the bytes of a media resource or stream property; `body` is `.bytes` or `.stream`.
  public func updateMedia(_ path: String, to body: ODataRequestBody, ifMatch: String? = nil) async throws {
    _ = try await execute(single: .updateMedia(path, to: body, ifMatch: ifMatch))
  }

  private func changed(_ request: ODataSingleRequest) async throws -> ODataEntity? {
    let response = try await execute(single: request)
    guard !response.payloadBytes.isEmpty else { return nil }
    switch try response.payload(model: model) {
    case .entity(let entity): return entity
    case let other: throw unexpected(other, expected: "an entity", in: response, to: request)
    }
  }

  private func unexpected(
    _ payload: ODataPayload, expected: String, in response: ODataSingleResponse, to request: ODataSingleRequest
  ) -> ODataServiceError {
    let received =
      switch payload {
      case .entity: "an entity"
      case .collection: "a collection of entities"
      case .property: "a value"
      case .reference, .references: "references"
      case .count: "a count"
      case .delta: "a delta"
      case .serviceDocument: "a service document"
      case .error: "an error"
      }
    return ODataServiceError(
      .malformedResponse("expected \(expected), received \(received); use the function that reads \(received)"),
      operation: request.operationName, url: response.url, response: response)
  }
}
