import LarderStorage

/// The local copy as one transaction sees it.
struct ReplicaSnapshot: Sendable {
  /// The connection of the transaction. It must not be used after the transaction.
  let connection: Connection
  /// The physical tables at the beginning of the transaction, and those that were created in it since, if known.
  var state: ReplicaState
  let plan: ReplicaPlan
}
