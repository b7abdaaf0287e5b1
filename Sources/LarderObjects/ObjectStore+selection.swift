import LarderStorage

// Reading many values: each call sees one state of the file. No call here counts as a request.
extension ObjectStore {
  /// The values of a selection, in its order; by default, all values.
  ///
  /// All values must have the type. They are all in memory at once; use ``page(_:_:limit:after:)`` for many values.
  ///
  /// - Throws: `typeMismatch`, `undecodable` or `damaged` with the key of the first value that cannot be read;
  ///   `closed`, `storage`.
  public func values<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, _ selection: ObjectSelection = .all
  ) async throws(ObjectStoreError) -> [Value] {
    try await page(SelectionQuery(selection, after: nil, now: memory.now()), limit: .max, decoding(type)).items
      .map(\.value)
  }

  /// The values that have a label, in the order of their keys: ``values(_:_:)`` of the selection `.label(label)`.
  public func values<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, label: String
  ) async throws(ObjectStoreError) -> [Value] {
    try await values(type, .label(label))
  }

  /// The values of a selection with their keys. Throws the errors of ``values(_:_:)``.
  public func entries<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, _ selection: ObjectSelection = .all
  ) async throws(ObjectStoreError) -> [ObjectEntry<Value>] {
    try await page(SelectionQuery(selection, after: nil, now: memory.now()), limit: .max, decoding(type)).items
  }

  /// One page of a selection: values with their keys, and the cursor of the next page.
  ///
  /// Each page sees the state of the file at the time of its call. Between two pages, no value that stays in the
  /// selection is skipped or repeated. (If the selection is ordered by labels, a value whose labels change may move
  /// past the cursor.)
  ///
  /// - Parameters:
  ///   - type: the type of the values.
  ///   - selection: the values and their order.
  ///   - limit: the maximum number of values; at least 1 is used.
  ///   - cursor: the cursor of the previous page; nil for the first page.
  /// - Throws: the errors of ``values(_:_:)``; `invalidCursor` for the cursor of another selection's order.
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

  /// The metadata of some values of a selection, and the cursor of the next page.
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

  /// What to read of each row. Errors of single values are kept apart from those of the disk.
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
        try query.forEachRow(reading.columns, on: connection) { (row, cursor) throws(StorageError) in
          guard items.count < limit else {
            hasMore = true
            return false
          }
          do { items.append(try reading.read(row, SelectionQuery.leadingColumns, cursor.key.text)) } catch {
            failure = error
            return false
          }
          last = cursor
          return true
        }
        if let failure { return .failure(ObjectStoreError(.read, below: failure)) }
        return .success(ObjectPage(items: items, next: hasMore ? last : nil))
      }
    } catch { throw ObjectStoreError(.read, error) }
    return try result.get()
  }
}
