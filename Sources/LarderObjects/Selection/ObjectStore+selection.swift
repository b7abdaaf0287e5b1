import LarderStorage

// Many values: each call sees one state of the file. None of them counts as a request.
extension ObjectStore {
  /// The values of a selection, by default all, in its order.
  ///
  /// All of them must be of the type; they are all in memory at once, see ``page(_:_:limit:after:)`` for many.
  ///
  /// - Throws: `typeMismatch`, `undecodable` or `damaged` with the key of the first value that is so; `closed`, `storage`.
  public func values<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, _ selection: ObjectSelection = .all
  ) async throws(ObjectStoreError) -> [Value] {
    try await page(SelectionQuery(selection, after: nil, now: memory.now()), limit: .max, decoding(type)).items
      .map(\.value)
  }

  /// The values that have a label, in order of their keys: ``values(_:_:)`` of the selection `.label(label)`.
  public func values<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, label: String
  ) async throws(ObjectStoreError) -> [Value] {
    try await values(type, .label(label))
  }

  /// The values of a selection with their keys; throws what ``values(_:_:)`` throws.
  public func entries<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, _ selection: ObjectSelection = .all
  ) async throws(ObjectStoreError) -> [ObjectEntry<Value>] {
    try await page(SelectionQuery(selection, after: nil, now: memory.now()), limit: .max, decoding(type)).items
  }

  /// Some values of a selection, with their keys, and where the next begin.
  ///
  /// Each page sees the state of the file at its moment; between two, nothing that stays in the selection is left out or
  /// comes twice. (In an order of labels, a value whose labels change may move past the place.)
  ///
  /// - Parameters:
  ///   - type: what the values are.
  ///   - selection: which values, in which order.
  ///   - limit: the most values; at least 1 is taken.
  ///   - cursor: the place from the page before; nil for the first page.
  /// - Throws: what ``values(_:_:)`` throws; `invalidCursor` for a place in another selection's order.
  public func page<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, _ selection: ObjectSelection = .all, limit: Int, after cursor: ObjectCursor? = nil
  ) async throws(ObjectStoreError) -> ObjectPage<ObjectEntry<Value>> {
    try await page(SelectionQuery(selection, after: cursor, now: memory.now()), limit: limit, decoding(type))
  }

  /// The keys of a selection, in its order. Throws `closed`, `storage`.
  public func keys(_ selection: ObjectSelection = .all) async throws(ObjectStoreError) -> [String] {
    let query = try SelectionQuery(selection, after: nil, now: memory.now())
    return try await page(query, limit: .max, RowReading(columns: "NULL") { _, _, key in key }).items
  }

  /// What is known about some values of a selection, and where the next begin.
  ///
  /// Throws `invalidCursor`, `closed`, `storage`.
  public func metadata(
    _ selection: ObjectSelection = .all, limit: Int = .max, after cursor: ObjectCursor? = nil
  ) async throws(ObjectStoreError) -> ObjectPage<ObjectMetadata> {
    let query = try SelectionQuery(selection, after: cursor, now: memory.now())
    let reading = RowReading(columns: ObjectMetadata.columns) { [memory] (row, first, _) throws(StorageError) in
      try ObjectMetadata(row, from: first, memory: memory)
    }
    return try await page(query, limit: limit, reading)
  }

  // MARK: Reading rows

  /// What is read of each row; the errors of values go past those of the disk.
  private struct RowReading<Item: Sendable>: Sendable {
    let columns: String
    let read: @Sendable (borrowing Row, Int32, String) throws -> Item
  }

  private func decoding<Value: Codable & Sendable>(_ type: Value.Type) -> RowReading<ObjectEntry<Value>> {
    RowReading(columns: StoredObject.columns) { row, first, key in
      let object = try StoredObject(row, key: key, from: first)
      return ObjectEntry(key: key, value: try object.value(type, ObjectKey(stored: key), .read))
    }
  }

  private func page<Item: Sendable>(
    _ query: SelectionQuery, limit: Int, _ reading: RowReading<Item>
  ) async throws(ObjectStoreError) -> ObjectPage<Item> {
    let limit = max(1, limit)
    memory.refresh()
    let result: Result<ObjectPage<Item>, ObjectStoreError>
    do throws(StorageError) {
      result = try await database.read { (connection) throws(StorageError) in
        var (items, last, hasMore, failure): ([Item], ObjectCursor?, Bool, (any Error)?) = ([], nil, false, nil)
        try query.forEachRow(reading.columns, on: connection) { (row, place) throws(StorageError) in
          guard items.count < limit else {
            hasMore = true
            return false
          }
          do { items.append(try reading.read(row, SelectionQuery.ownColumns, place.key.text)) } catch {
            failure = error
            return false
          }
          last = place
          return true
        }
        if let failure { return .failure(ObjectStore.failure(failure, .read)) }
        return .success(ObjectPage(items: items, next: hasMore ? last : nil))
      }
    } catch { throw ObjectStoreError(.read, error) }
    return try result.get()
  }
}
