import LarderOData
import LarderService
import LarderStorage

extension ResultRun {
  /// Decodes values directly from the rows, without JSON in between.
  ///
  /// - An array or set has one value for each entity. Every other type is decoded from the one entity or value, or from
  ///   the number if the query ends in `/$count`.
  /// - Members are found by `CodingKeys`: properties, complex properties as types of their own, expanded ones as
  ///   arrays, optionals or types, `Name@odata.count`, and `@odata.id`, `@odata.etag` and `@odata.type` of an entity.
  /// - `Date`, `Decimal`, `UUID`, `Data`, `URL` and `Duration` are decoded from the Edm types that hold such values. A
  ///   `String` is the text as the service sent it, also for decimals, dates and times. Enumerations are decoded by
  ///   name or number.
  ///
  /// - Returns: nil if there is no such entity or no value; always an array for a query for a collection.
  /// - Throws: `DecodingError` with the path of the value, also for what the type's own `init(from:)` throws; the
  ///   store's error.
  func read<Value: Decodable>(_ type: Value.Type, _ connection: Connection) throws -> Value? {
    do { return try reportingFailedRow(connection) { try decoded(type, connection) } } catch {
      switch error {
      case is DecodingError, is OfflineODataError, is StorageError, is CancellationError: throw error
      default:
        throw DecodingError.dataCorrupted(
          .init(codingPath: [], debugDescription: "\(type) cannot be decoded from the result", underlyingError: error))
      }
    }
  }

  private func decoded<Value: Decodable>(_ type: Value.Type, _ connection: Connection) throws -> Value? {
    let writer = ResultWriter(connection: connection, types: types)
    switch plan.content {
    case .objects(let shape), .references(let shape): return try objects(type, shape, writer)
    case .value(let member, _): return try value(type, member, writer)
    case .count:
      guard let count = try count(writer) else { return nil }
      return try ScalarDecoder.make(type, ScalarDecoder(.integer(count), .none, codingPath: [], model: types.model))
    case .media:
      throw OfflineODataError(.unsupportedQuery, "media decoded as a Swift value; read its bytes with readMedia(_:)")
    }
  }

  private func objects<Value: Decodable>(
    _ type: Value.Type, _ shape: ReadShape, _ writer: ResultWriter
  ) throws -> Value? {
    // Entities of any type are decoded from their JSON.
    if shape.expands.contains(where: { $0.only != nil }) { return try written(type, shape, writer) }
    let scope = RowScope(shape, place: place(shape), types: types, depth: 0)
    let decoder = RowDecoder(scope, RowPlace(writer: writer))
    defer { decoder.end() }
    let values = try plan.parameters.values()
    guard !plan.isSingle else {
      var decoded: Value?
      try writer.forEachRow(plan.sql, values) { row in
        decoded = try decoder.place.with(row) { try Value(from: decoder) }
        return false
      }
      return decoded
    }
    guard let rows = type as? any DecodableRows.Type else {
      throw DecodingError.typeMismatch(
        type, .init(codingPath: [], debugDescription: "The query returns several rows; decode an array"))
    }
    var paging = ResultPaging(plan.page)
    let decodedRows = try rows.rows(
      { decodeNext in
        try writer.forEachRow(plan.sql, values) { row in
          guard paging.accepts(row) else { return false }
          try decoder.place.with(row, decodeNext)
          return true
        }
      }, from: decoder)
    if paging.count == 0, try hasOwner(writer) == false { return nil }
    return decodedRows as? Value
  }

  private func written<Value: Decodable>(
    _ type: Value.Type, _ shape: ReadShape, _ writer: ResultWriter
  ) throws -> Value? {
    let form = ResultForm(version: .v4, serviceRoot: form.serviceRoot)
    let run = ResultRun(plan: plan, url: url, form: form, model: model)
    let (bytes, end) = try run.json(writer.connection)
    guard end.outcome == .content else { return nil }
    let node = try JSONNode(bytes)
    let item = shape.type.map { ValueType.structure($0) } ?? .untyped
    let decoder =
      plan.isSingle
      ? NodeDecoder(node, item, codingPath: [], model: run.types.model)
      : NodeDecoder(node["value"] ?? .null, .collection(item), codingPath: [], model: run.types.model)
    return try decoder.value(type)
  }

  private func value<Value: Decodable>(
    _ type: Value.Type, _ member: ReadMember, _ writer: ResultWriter
  ) throws -> Value? {
    // Decodes the only member of an object.
    let key = NameKey(stringValue: member.name)
    let scope = RowScope(members: [member])
    let decoder = RowDecoder(scope, RowPlace(writer: writer))
    defer { decoder.end() }
    let member = scope.place(0)
    var decoded: Value?
    try writer.forEachRow(plan.sql, plan.parameters.values()) { row in
      decoded = try decoder.place.with(row) {
        try decoder.isMissing(member, key) ? nil : try decoder.value(type, member, key)
      }
      return false
    }
    return decoded
  }
}

/// A property's name in a coding path.
private struct NameKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
