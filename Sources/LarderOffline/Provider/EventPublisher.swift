@_spi(Stores) import LarderCore

/// Sends events to their receivers: any number of streams, and one listener.
final class EventPublisher: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<OfflineODataEvent>.Continuation] = [:]
    var next = 0
    var listener: WeakListener?
    /// Listener calls that are still to be made.
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

  /// A weak reference to a listener.
  private final class WeakListener: Sendable {
    private let reference: Locked<Reference>
    private struct Reference { weak var listener: (any OfflineODataListener)? }
    init(_ listener: any OfflineODataListener) { reference = Locked(Reference(listener: listener)) }
    var listener: (any OfflineODataListener)? { reference.withLock { $0.listener } }
  }

  private let state = Locked(State())

  var listener: (any OfflineODataListener)? {
    get { state.withLock { $0.listener }?.listener }
    set { _ = state.withLock { exchange(&$0.listener, with: newValue.map(WeakListener.init)) } }
  }

  /// A stream of the events from now on. If it is not read, the oldest events are dropped.
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

  /// Sends one event to all streams and to the listener.
  func publish(_ event: OfflineODataEvent, of provider: OfflineODataProvider, isOpening: Bool = false) {
    defer {
      if case .queryFinished(let outcome) = event, !outcome.conflicts.isEmpty {
        publish(.conflictsNoticed(outcome.conflicts), of: provider)
      }
    }
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    guard listener != nil else { return }
    let isFirst = state.withLock { state in
      state.calls.append(Call(event: event, provider: provider, isOpening: isOpening))
      defer { state.isCalling = true }
      return !state.isCalling
    }
    // Calls are made one after another: the thread that is calling the listener makes this call too.
    guard isFirst else { return }
    while let call = state.withLock({ $0.nextCall() }) {
      if let listener { EventPublisher.call(listener, call.event, call.provider, isOpening: call.isOpening) }
    }
  }

  private static func call(
    _ listener: any OfflineODataListener, _ event: OfflineODataEvent, _ provider: OfflineODataProvider, isOpening: Bool
  ) {
    switch event {
    case .stateChanged(let state): listener.offlineODataProvider(provider, stateDidChange: state)
    case .downloadProgress(let progress) where isOpening:
      listener.offlineODataProvider(provider, didUpdateOpenProgress: progress)
    case .downloadProgress(let progress): listener.offlineODataProvider(provider, didUpdateDownloadProgress: progress)
    case .queryFinished(let outcome): listener.offlineODataProvider(provider, didFinishQuery: outcome)
    case .uploadProgress(let progress): listener.offlineODataProvider(provider, didUpdateUploadProgress: progress)
    case .conflictsNoticed(let conflicts): listener.offlineODataProvider(provider, didNoticeConflicts: conflicts)
    case .downloadFinished, .downloadFailed, .uploadFinished, .uploadFailed: break
    }
  }
}
