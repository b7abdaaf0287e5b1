public import LarderOData

// Changes with values of the application's types.
extension ODataStore {
  /// Adds an entity to the collection at `path`: the properties that a type of the application encodes, under the names
  /// that they have in the service.
  ///
  /// A property that is not encoded is left to the service; one that is encoded as nil is null. (Code that the compiler
  /// writes does not encode nil.) Values are converted to the declared types: a text to a decimal or a date, a `Date` to
  /// a timestamp with the declared digits of the second's fraction. Encoded entities and arrays of navigation properties
  /// are created with the entity; the key `Customer@odata.bind` binds existing ones by their paths.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) with the path of a value that does not fit.
  ///
  /// - Returns: the entity as the service created it; nil if the response has no content.
  @discardableResult
  public func create(_ value: some Encodable, in path: String) async throws -> ODataEntity? {
    try await create(entity(value, path, operation: "create"), in: path)
  }

  /// Changes the entity at `path`: only the properties that a type of the application encodes, unless `method` is
  /// `replace`. They are encoded as for a creation.
  ///
  /// - Returns: the changed entity, if the service returned it.
  @discardableResult
  public func update(
    _ path: String, to value: some Encodable, method: ODataSingleRequest.UpdateMethod = .patch, ifMatch: String? = nil
  ) async throws -> ODataEntity? {
    try await update(path, to: entity(value, path, operation: "update"), method: method, ifMatch: ifMatch)
  }

  private func entity(
    _ value: some Encodable, _ path: String, operation: String
  ) throws(ODataServiceError) -> ODataEntity {
    let type = model.flatMap { ResourceShape(url: path, model: $0)?.type }
    let part = EncodedPart(type.map { ValueType($0, in: model) } ?? .untyped, model)
    do { try EntityEncoder(part: part, codingPath: [], model: model).encode(value) } catch {
      throw ODataServiceError(
        .invalidRequest(EncodedPart.problem(error, of: value)), operation: operation, url: path, cause: error)
    }
    guard case .object = part.form else {
      throw ODataServiceError(
        .invalidRequest("\(Swift.type(of: value)) is not encoded as an object with the names of properties"),
        operation: operation, url: path)
    }
    return part.entity
  }
}

extension EncodedPart {
  fileprivate static func problem(_ error: any Error, of value: some Encodable) -> String {
    guard case .invalidValue(_, let context)? = error as? EncodingError else {
      return "\(Swift.type(of: value)) cannot be encoded: \(error)"
    }
    let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? "/" + $0.stringValue }.joined()
    return "'\(path)': \(context.debugDescription)"
  }
}
