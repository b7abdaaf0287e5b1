import Locking

/// Tells events to those who listen: streams, and one delegate.
final class EventTelling: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<OfflineODataEvent>.Continuation] = [:]
    var next = 0
    var delegate: WeakDelegate?
  }

  /// A delegate that is not held.
  private final class WeakDelegate: Sendable {
    private let reference: Locked<Reference>
    private struct Reference { weak var delegate: (any OfflineODataDelegate)? }
    init(_ delegate: any OfflineODataDelegate) { reference = Locked(Reference(delegate: delegate)) }
    var delegate: (any OfflineODataDelegate)? { reference.withLock { $0.delegate } }
  }

  private let state = Locked(State())
  /// Calls to the delegate come one after another.
  private let calling = Locked<Void>(())

  var delegate: (any OfflineODataDelegate)? {
    get { state.withLock { $0.delegate }?.delegate }
    set { state.withLock { $0.delegate = newValue.map(WeakDelegate.init) } }
  }

  /// Events from now on; the oldest are dropped where nobody takes them.
  func stream() -> AsyncStream<OfflineODataEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: OfflineODataEvent.self, bufferingPolicy: .bufferingNewest(1000))
    let number = state.withLock { state in
      state.next += 1
      state.streams[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.streams[number] = nil } }
    return stream
  }

  /// Tells one event.
  func tell(_ event: OfflineODataEvent, of provider: OfflineODataProvider, isOpening: Bool = false) {
    defer {
      if case .queryFinished(let outcome) = event, !outcome.conflicts.isEmpty {
        tell(.conflictsNoticed(outcome.conflicts), of: provider)
      }
    }
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    guard let delegate else { return }
    calling.withLock { _ in
      switch event {
      case .stateChanged(let state): delegate.offlineODataProvider(provider, stateDidChange: state)
      case .progress(let progress) where isOpening:
        delegate.offlineODataProvider(provider, didUpdateOpenProgress: progress)
      case .progress(let progress): delegate.offlineODataProvider(provider, didUpdateDownloadProgress: progress)
      case .queryFinished(let outcome): delegate.offlineODataProvider(provider, didFinishQuery: outcome)
      case .uploadProgress(let progress): delegate.offlineODataProvider(provider, didUpdateUploadProgress: progress)
      case .conflictsNoticed(let conflicts):
        delegate.offlineODataProvider(provider, didNoticeConflicts: conflicts)
      case .downloadFinished, .downloadFailed, .uploadFinished, .uploadFailed: break
      }
    }
  }
}
