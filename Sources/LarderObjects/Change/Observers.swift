@_spi(Stores) import LarderCore
import Synchronization

/// The values that an observer watches.
enum Observed: Sendable {
  case key(ObjectKey)
  case label(ObjectKey)
  case everything

  func contains(_ change: RecordedChange) -> Bool {
    guard let changed = change.key else { return true }
    return switch self {
    case .key(let key): changed == key
    case .label(let label): change.labels.contains(label)
    case .everything: true
    }
  }
}

/// The observers of a store. They are notified in the order of commits.
final class Observers: Sendable {
  /// How many changed keys an observer keeps until they are read.
  static let bufferLimit = 1000

  private struct State {
    var observers: [Int: Entry] = [:]
    var next = 0
    var isClosed = false
  }

  /// An observer, as long as its owner keeps a reference to it.
  private struct Entry {
    weak var observer: ChangeObserver?
    let observed: Observed
  }

  private let state = Locked(State())
  /// The number of observers, which can be read without a lock.
  private let count = Atomic(0)

  /// True if there are no observers: changes need not be recorded then.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  func add(_ observed: Observed) -> ChangeObserver {
    let observer = ChangeObserver(self)
    let number = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      let number = state.next
      state.observers[number] = Entry(observer: observer, observed: observed)
      state.next += 1
      count.store(state.observers.count, ordering: .releasing)
      return number
    }
    if let number { observer.setNumber(number) } else { observer.finish() }
    return observer
  }

  func remove(_ number: Int) {
    state.withLock { state in
      state.observers[number] = nil
      count.store(state.observers.count, ordering: .releasing)
    }
  }

  /// Notifies the observers of changes. Only one caller at a time reports the changes of commits.
  func report(_ changes: [RecordedChange]) {
    guard !changes.isEmpty, !isEmpty else { return }
    let entries = state.withLock { state in state.observers.values.map { ($0.observer, $0.observed) } }
    for (observer, observed) in entries {
      guard let observer else { continue }
      for change in changes where observed.contains(change) { observer.add(change) }
    }
  }

  /// Ends all observers: no more changes are reported, and loops end after the changes that were recorded.
  func finish() {
    let observers = state.withLock { state in
      state.isClosed = true
      count.store(0, ordering: .releasing)
      defer { state.observers = [:] }
      return state.observers.values.compactMap(\.observer)
    }
    for observer in observers { observer.finish() }
  }
}

/// One observer: the changes recorded for it, and the task that reads them.
final class ChangeObserver: Sendable {
  private struct State {
    var buffer = ChangeBuffer(limit: Observers.bufferLimit)
    var waiters: [(id: Int, continuation: CheckedContinuation<ObjectChange?, Never>)] = []
    var lastWaiterID = 0
    var isFinished = false
    var hasRecordedRemoval = false
    var number: Int?
  }

  private let state = Locked(State())
  private let observers: Observers

  init(_ observers: Observers) { self.observers = observers }

  deinit { if let number = state.withLock({ $0.number }) { observers.remove(number) } }

  func setNumber(_ number: Int) { state.withLock { $0.number = number } }

  func add(_ recorded: RecordedChange) {
    let ready = state.withLock { state -> (CheckedContinuation<ObjectChange?, Never>, ObjectChange)? in
      state.buffer.add(recorded)
      if recorded.isRemoval { state.hasRecordedRemoval = true }
      guard !state.waiters.isEmpty, let change = state.buffer.next() else { return nil }
      return (state.waiters.removeFirst().continuation, change)
    }
    if let (continuation, change) = ready { continuation.resume(returning: change) }
  }

  /// True if a removal of an observed value was recorded, whether it was taken or not.
  var hasRecordedRemoval: Bool { state.withLock { $0.hasRecordedRemoval } }

  func finish() {
    let waiters = state.withLock { state in
      state.isFinished = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(returning: nil) }
  }

  /// The next change. Nil if the store is closed or the task is cancelled.
  func next() async -> ObjectChange? {
    // A cancelled task ends even if changes are pending.
    if Task.isCancelled { return nil }
    let id = state.withLock { state in
      state.lastWaiterID += 1
      return state.lastWaiterID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> ObjectChange?? in
          if let change = state.buffer.next() { return change }
          if state.isFinished { return .some(nil) }
          state.waiters.append((id, continuation))
          return nil
        }
        if let ready {
          continuation.resume(returning: ready)
        } else if Task.isCancelled {
          // The task was cancelled before the continuation was stored, so the handler did not find it.
          cancel(id)
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func cancel(_ id: Int) {
    let continuation = state.withLock { state -> CheckedContinuation<ObjectChange?, Never>? in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return state.waiters.remove(at: index).continuation
    }
    continuation?.resume(returning: nil)
  }
}
