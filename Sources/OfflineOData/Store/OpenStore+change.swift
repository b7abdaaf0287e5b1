import Storage
import Synchronization

extension OpenStore {
  /// Runs `body` in a transaction that writes: committed where it returns, rolled back where it throws. Errors of any kind
  /// come through.
  func change<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    let failure = Mutex<OfflineODataError?>(nil)
    do throws(StorageError) {
      return try await replica.write { (connection, state, plan) throws(StorageError) in
        do { return try body(connection, state, plan) } catch let error as StorageError { throw error } catch {
          failure.withLock { $0 = OfflineODataError(below: error) }
          throw .givenUp(connection.file ?? "")
        }
      }
    } catch { throw failure.withLock { $0 } ?? OfflineODataError(error) }
  }
}
