import LarderOData
import LarderODataXML
import LarderStorage

extension Replica {
  /// Adopts a service's metadata document: changes the tables accordingly, in one transaction.
  ///
  /// If the document is already in use, nothing happens. Throws the document's `MetadataError`, or `StorageError`.
  /// Throws `malformedMetadata` for a document without entities if it must not be empty and the store has some; they
  /// stay.
  func adopt(metadata: [UInt8], mayBeEmpty: Bool = true) async throws -> ReplicaMigration {
    let inUse = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT metadata = ?1 FROM larder_state", .blob(metadata)) { (row) throws(StorageError) in
        try row.int64OrNil(0) == 1
      }
    }
    if inUse == true { return ReplicaMigration() }
    let plan = ReplicaPlan(model: try EdmModel.read(metadata))
    guard mayBeEmpty || !plan.tables.isEmpty || self.plan.tables.isEmpty else {
      throw OfflineODataError(.malformedMetadata, "the new document declares no entity sets")
    }
    return try await write { (snapshot) throws(StorageError) in
      let migration = try ReplicaMigration.run(from: snapshot.plan, to: plan, snapshot.connection)
      try snapshot.connection.run(
        "UPDATE larder_state SET metadata = ?1, model = model + 1, version = version + 1", .blob(metadata))
      return migration
    }
  }
}
