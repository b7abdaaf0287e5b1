public import LarderOData

// Reads of some properties, as a type that has only those.
//
// ```swift
// let notes = try await shop.orders.all(as: Note.self) {
//   $0.id
//   $0.note
// }
// ```

extension ODataEntitySet {
  /// The properties of entities to read.
  public typealias Selecting = (ODataSelection<Entity>) -> [ODataSelectItem]

  /// Reads all entities as another type, which may have fewer properties than `Entity`: those that `$select` names.
  public func all<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) async throws -> [Row] { try await rows(query.select(items)) }

  /// Reads the first entity as another type, with the selected properties; nil if there is none.
  public func first<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) async throws -> Row? { try await first(query.select(items)) }

  /// The pages of the result as another type, with the selected properties.
  public func pages<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) -> ODataPages<[Row]> { pages(query.select(items)) }

  /// The result as another type, with the selected properties: now, and again whenever it changes.
  public func live<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) -> ODataLiveResults<[Row]> { live(query.select(items)) }

  /// A request that reads all entities as another type, with the selected properties.
  public func reading<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) throws -> ODataTypedRequest<[Row]> { try reading(query.select(items)) }
}

extension ODataEntityReference {
  /// The properties of the entity to read.
  public typealias Selecting = (ODataSelection<Entity>) -> [ODataSelectItem]

  /// Reads the entity as another type, with the selected properties. Throws with status 404 if it does not exist.
  public func get<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) async throws -> Row { try await row(query.select(items)) }

  /// The entity as another type, with the selected properties: now, and again whenever it changes; nil while it does
  /// not exist.
  public func live<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) -> ODataLiveResults<Row?> {
    let query = query.select(items)
    return ODataLiveResults { [store] in try store.liveResults(type, store.checkedText(query)) }
  }

  /// A request that reads the entity as another type, with the selected properties.
  public func reading<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: Selecting
  ) throws -> ODataTypedRequest<Row> { try reading(query.select(items)) }
}
