import Synchronization

/// The body that a change created or used: set by the last attempt to apply the change; 0 if there is none.
final class WrittenBody: Sendable {
  private let value = Atomic<Int64>(0)

  var id: Int64 {
    get { value.load(ordering: .acquiring) }
    set { value.store(newValue, ordering: .releasing) }
  }
}
