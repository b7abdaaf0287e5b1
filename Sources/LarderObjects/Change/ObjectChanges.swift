/// Changes of an ``ObjectStore``'s values, as they happen, in the order of their commits.
///
/// What is told begins when the sequence is made, not when a loop begins. Of a key that changes several times before the
/// loop comes to it, the newest change is told; where more than ``ObjectStore/observedChangeLimit`` keys wait, one
/// ``ObjectChange/missed`` stands for all. A sequence is for one loop: two loops share its changes out. It ends when the
/// store is closed or the task is cancelled; to stop, leave the loop and let the sequence go.
public struct ObjectChanges: AsyncSequence, Sendable {
  /// One change.
  public typealias Element = ObjectChange
  /// It never fails.
  public typealias Failure = Never

  let observer: ChangeObserver

  /// Takes the changes told so far, then waits for more.
  public func makeAsyncIterator() -> Iterator { Iterator(observer: observer) }

  /// Takes one change after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let observer: ChangeObserver

    /// The next change; nil when the store has been closed or the task cancelled.
    public mutating func next() async -> ObjectChange? { await observer.next() }

    /// The same from within an actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ObjectChange? {
      await observer.next()
    }
  }
}

extension ObjectStore {
  /// Changes of the value under a key. Throws `invalidKey`.
  ///
  /// Those of other processes are told as ``ObjectChange/missed``, when this store next reads or writes, or at
  /// ``refresh()``.
  public func changes(forKey key: String) throws(ObjectStoreError) -> ObjectChanges {
    ObjectChanges(observer: observers.add(.key(try ObjectKey(key, for: .read))))
  }

  /// Changes of values that have a label, or had it until the change. Throws `invalidKey` for a label that cannot be one.
  ///
  /// Those of other processes are told as ``ObjectChange/missed``, when this store next reads or writes, or at
  /// ``refresh()``.
  public func changes(label: String) throws(ObjectStoreError) -> ObjectChanges {
    ObjectChanges(observer: observers.add(.label(try ObjectKey(label, for: .read))))
  }

  /// Changes of all values.
  ///
  /// Those of other processes are told as ``ObjectChange/missed``, when this store next reads or writes, or at
  /// ``refresh()``.
  public func changes() -> ObjectChanges { ObjectChanges(observer: observers.add(.everything)) }

  /// Looks whether another process has changed the file, and tells observers: a load from memory, no more, but
  /// where one has ended in the midst of a change.
  ///
  /// Reads and writes do this by themselves; call it from time to time where a process observes and does neither.
  public func refresh() { memory.refresh() }
}
