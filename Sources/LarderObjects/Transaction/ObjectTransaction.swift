import LarderStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Several changes of an ``ObjectStore`` that are applied as one, and reads that see them.
///
/// No other change, of this process or another, runs between them. Use the transaction inside the closure that
/// ``ObjectStore/transaction(_:)`` passes it to. If one of its calls throws `storage`, the file has failed: the whole
/// transaction is rolled back, even if the closure continues.
public struct ObjectTransaction: ~Copyable {
  private let table: ObjectTable

  init(_ table: ObjectTable) { self.table = table }

  /// Puts a value; see ``ObjectStore/put(_:forKey:labels:expires:)``.
  public func put<Value: Codable & Sendable>(
    _ value: Value, forKey key: String, labels: some Collection<String> = [String](), expires: Date? = nil
  ) throws(ObjectStoreError) {
    let new = try NewObject(
      value, forKey: key, labels: labels, expires: expires, limits: table.limits, for: .transaction)
    try attempt(key) { () throws(StorageError) in try table.put(new) }
  }

  /// The value under a key after the changes so far; nil if there is none. Does not count as a request.
  ///
  /// Throws `invalidKey`, `typeMismatch`, `undecodable`, `damaged`, `storage`.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ObjectStoreError) -> Value? {
    let checked = try ObjectKey(key, for: .transaction)
    let object = try attempt(key) { () throws(StorageError) in
      try table.connection.first(StoredObject.query, .text(key)) { (row) throws(StorageError) in
        try StoredObject(row, key: key)
      }
    }
    guard let object, !object.isExpired({ table.now }) else { return nil }
    return try object.value(type, checked, .transaction)
  }

  /// The keys of a selection after the changes so far, in its order. Throws `storage`.
  public func keys(_ selection: ObjectSelection = .all) throws(ObjectStoreError) -> [String] {
    let query = try SelectionQuery(selection, after: nil, now: table.now)
    return try attempt(nil) { () throws(StorageError) in
      var keys: [String] = []
      try query.forEachRow("NULL", on: table.connection) { (_, cursor) in
        keys.append(cursor.key.text)
        return true
      }
      return keys
    }
  }

  /// Removes the value under a key. Returns false if there is none. Throws `invalidKey`, `storage`.
  @discardableResult
  public func removeValue(forKey key: String) throws(ObjectStoreError) -> Bool {
    let checked = try ObjectKey(key, for: .transaction)
    return try attempt(key) { () throws(StorageError) in try table.delete(checked) }
  }

  /// Removes every value. Returns how many there were. Throws `storage`.
  @discardableResult
  public func removeAll() throws(ObjectStoreError) -> Int {
    try attempt(nil) { () throws(StorageError) in try table.deleteEverything() }
  }

  /// Removes the values that have a label. Returns how many there were. Throws `invalidKey`, `storage`.
  @discardableResult
  public func removeAll(label: String) throws(ObjectStoreError) -> Int {
    let label = try ObjectKey(label, for: .transaction).text
    return try attempt(nil) { () throws(StorageError) in
      try table.deleteAll("SELECT object FROM label WHERE label = ?", .text(label))
    }
  }

  private func attempt<Result>(
    _ key: String?, _ body: () throws(StorageError) -> Result
  ) throws(ObjectStoreError) -> Result {
    do throws(StorageError) { return try table.attempt(body) } catch {
      throw ObjectStoreError(.transaction, key: key, error)
    }
  }
}

extension ObjectStore {
  /// Applies several changes as one. When it returns, all of them are durable. If `body` throws, none is applied.
  ///
  /// `body` runs once, on the writer's thread, while every other change waits. It should only work with values, and not
  /// wait for anything. It may read what it is about to change, so a counter that several processes increment loses no
  /// increment.
  ///
  /// - Throws: the errors that `body` throws, unchanged; ``ObjectStoreError`` with `closed` or `storage` if the file
  ///   fails.
  public func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing ObjectTransaction) throws -> Result
  ) async throws -> Result {
    do {
      return try await opened.writer.change(alone: true) { table in try body(ObjectTransaction(table)) }
    } catch let error as StorageError { throw ObjectStoreError(.transaction, error) }
  }
}
