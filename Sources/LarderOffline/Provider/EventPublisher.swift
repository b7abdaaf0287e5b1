import LarderCore

/// Sends events to their receivers: any number of streams, and one delegate.
final class EventPublisher: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<OfflineODataEvent>.Continuation] = [:]
    var next = 0
    var delegate: WeakDelegate?
    /// Delegate calls that are still to be made.
    var calls: [Call] = []
    var isCalling = false

    mutating func nextCall() -> Call? {
      isCalling = !calls.isEmpty
      return isCalling ? calls.removeFirst() : nil
    }
  }

  private struct Call {
    let event: OfflineODataEvent
    let provider: OfflineODataProvider
    let isOpening: Bool
  }

  /// A weak reference to a delegate.
  private final class WeakDelegate: Sendable {
    private let reference: Locked<Reference>
    private struct Reference { weak var delegate: (any OfflineODataDelegate)? }
    init(_ delegate: any OfflineODataDelegate) { reference = Locked(Reference(delegate: delegate)) }
    var delegate: (any OfflineODataDelegate)? { reference.withLock { $0.delegate } }
  }

  private let state = Locked(State())

  var delegate: (any OfflineODataDelegate)? {
    get { state.withLock { $0.delegate }?.delegate }
    set { _ = state.withLock { exchange(&$0.delegate, with: newValue.map(WeakDelegate.init)) } }
  }

  /// A stream of the events from now on. If nobody reads it, the oldest events are dropped.
  func stream() -> AsyncStream<OfflineODataEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: OfflineODataEvent.self, bufferingPolicy: .bufferingNewest(1000))
    let number = state.withLock { state in
      state.next += 1
      state.streams[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.streams.removeValue(forKey: number) }
    }
    return stream
  }

  /// Sends one event to all streams and to the delegate.
  func tell(_ event: OfflineODataEvent, of provider: OfflineODataProvider, isOpening: Bool = false) {
    defer {
      if case .queryFinished(let outcome) = event, !outcome.conflicts.isEmpty {
        tell(.conflictsNoticed(outcome.conflicts), of: provider)
      }
    }
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    guard delegate != nil else { return }
    let isFirst = state.withLock { state in
      state.calls.append(Call(event: event, provider: provider, isOpening: isOpening))
      defer { state.isCalling = true }
      return !state.isCalling
    }
    // Calls are made one after another: the thread that is calling the delegate makes this call too.
    guard isFirst else { return }
    while let call = state.withLock({ $0.nextCall() }) {
      if let delegate { EventPublisher.call(delegate, call.event, call.provider, isOpening: call.isOpening) }
    }
  }

  private static func call(
    _ delegate: any OfflineODataDelegate, _ event: OfflineODataEvent, _ provider: OfflineODataProvider, isOpening: Bool
  ) {
    switch event {
    case .stateChanged(let state): delegate.offlineODataProvider(provider, stateDidChange: state)
    case .progress(let progress) where isOpening:
      delegate.offlineODataProvider(provider, didUpdateOpenProgress: progress)
    case .progress(let progress): delegate.offlineODataProvider(provider, didUpdateDownloadProgress: progress)
    case .queryFinished(let outcome): delegate.offlineODataProvider(provider, didFinishQuery: outcome)
    case .uploadProgress(let progress): delegate.offlineODataProvider(provider, didUpdateUploadProgress: progress)
    case .conflictsNoticed(let conflicts): delegate.offlineODataProvider(provider, didNoticeConflicts: conflicts)
    case .downloadFinished, .downloadFailed, .uploadFinished, .uploadFailed: break
    }
  }
}
