/// Changes of an ``ObjectStore``'s values, as they happen, in the order of their commits.
///
/// The sequence records changes from its creation on, not from the start of a loop. If a key changes several times
/// before the loop reads it, only the newest change is reported. If more than ``ObjectStore/observedChangeLimit`` keys
/// are pending, one ``ObjectChange/missed`` replaces them all. Use a sequence in one loop only: two loops divide its
/// changes between them. The sequence ends when the store is closed or the task is cancelled. To stop, leave the loop
/// and release the sequence.
public struct ObjectChanges: AsyncSequence, Sendable {
  /// The element type: one change.
  public typealias Element = ObjectChange
  /// The sequence never fails.
  public typealias Failure = Never

  let observer: ChangeObserver

  /// Returns an iterator that delivers the changes recorded so far, then waits for more.
  public func makeAsyncIterator() -> Iterator { Iterator(observer: observer) }

  /// Delivers the changes one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let observer: ChangeObserver

    /// The next change. Nil if the store has been closed or the task is cancelled.
    public mutating func next() async -> ObjectChange? { await observer.next() }

    /// The next change, for a loop inside an actor. Nil if the store has been closed or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ObjectChange? {
      await observer.next()
    }
  }
}

extension ObjectStore {
  /// Changes of the value under a key. Throws `invalidKey`.
  ///
  /// Changes by other processes are reported as ``ObjectChange/missed``, when this store next reads or writes, or at
  /// ``refresh()``.
  public func changes(forKey key: String) throws(ObjectStoreError) -> ObjectChanges {
    ObjectChanges(observer: observers.add(.key(try ObjectKey(key, for: .read))))
  }

  /// Changes of values that have a label, or had it until the change. Throws `invalidKey` for an invalid label.
  ///
  /// Changes by other processes are reported as ``ObjectChange/missed``, when this store next reads or writes, or at
  /// ``refresh()``.
  public func changes(label: String) throws(ObjectStoreError) -> ObjectChanges {
    ObjectChanges(observer: observers.add(.label(try ObjectKey(label, for: .read))))
  }

  /// Changes of all values.
  ///
  /// Changes by other processes are reported as ``ObjectChange/missed``, when this store next reads or writes, or at
  /// ``refresh()``.
  public func changes() -> ObjectChanges { ObjectChanges(observer: observers.add(.everything)) }

  /// Checks whether another process has changed the file, and notifies observers. This costs one load from memory,
  /// unless a process has ended in the middle of a change.
  ///
  /// Reads and writes do this check automatically. Call it from time to time if a process observes but neither reads
  /// nor writes.
  public func refresh() { memory.refresh() }
}
