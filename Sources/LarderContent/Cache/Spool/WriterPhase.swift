/// How far a writer is; nothing leads back to open.
enum WriterPhase: Sendable {
  /// Takes in bytes.
  case open
  /// Its commit has begun.
  case committed
  /// Something failed; what is there can be read.
  case failed(CacheError)

  /// Throws where nothing can be appended or committed any more.
  func requireOpen() throws(CacheError) {
    switch self {
    case .open: return
    case .committed: throw .notSupported("a writer after its commit")
    case .failed(let error): throw error
    }
  }

  /// Lets the first commit pass.
  mutating func beginCommit() throws(CacheError) {
    try requireOpen()
    self = .committed
  }
}
