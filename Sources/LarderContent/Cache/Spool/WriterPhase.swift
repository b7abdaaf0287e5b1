/// The phase of a writer. No phase returns to `open`.
enum WriterPhase: Sendable {
  /// The writer accepts bytes.
  case open
  /// The commit has begun.
  case committed
  /// An operation failed; the appended bytes can still be read.
  case failed(CacheError)

  /// Throws if nothing can be appended or committed any more.
  func requireOpen() throws(CacheError) {
    switch self {
    case .open: return
    case .committed: throw .notSupported("using a writer after its commit")
    case .failed(let error): throw error
    }
  }

  /// Accepts the first commit only.
  mutating func beginCommit() throws(CacheError) {
    try requireOpen()
    self = .committed
  }
}
