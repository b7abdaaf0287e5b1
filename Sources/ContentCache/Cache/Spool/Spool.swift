import Synchronization

/// Content that grows: in memory at first, past a limit in a temporary file.
///
/// A byte that is there never changes, so it is read without waiting for those that are being written.
final class Spool: Sendable {
  /// Bytes that stay in memory by default.
  static let memoryLimit = 256 << 10

  private struct State {
    var bytes: [UInt8] = []
    var file: SpoolFile?
    var length = 0
  }

  private let memoryLimit: Int
  private let makeFile: @Sendable () throws(CacheError) -> SpoolFile
  private let state = Mutex(State())
  /// Held while bytes go into the file, so that two that append never write to one place.
  private let appending = Mutex(())

  init(
    memoryLimit: Int = Spool.memoryLimit,
    makeFile: @escaping @Sendable () throws(CacheError) -> SpoolFile = { () throws(CacheError) in try SpoolFile() }
  ) {
    self.memoryLimit = memoryLimit
    self.makeFile = makeFile
  }

  /// How many bytes are there.
  var length: Int { state.withLock { $0.length } }

  /// Takes in more; after an error what was there before stays as it was.
  func append(_ bytes: [UInt8]) throws(CacheError) {
    try appending.withLock { (_) throws(CacheError) in
      let isKept = state.withLock { state in
        guard state.file == nil, bytes.count <= memoryLimit - state.bytes.count else { return false }
        state.bytes.append(contentsOf: bytes)
        state.length = state.bytes.count
        return true
      }
      if isKept { return }
      let (file, length) = try spilled()
      try file.write(bytes, at: length)
      state.withLock { $0.length = length + bytes.count }
    }
  }

  /// The file with all that there is; what was in memory has moved into it.
  private func spilled() throws(CacheError) -> (SpoolFile, Int) {
    let (kept, bytes, length) = state.withLock { ($0.file, $0.bytes, $0.length) }
    if let kept { return (kept, length) }
    let file = try makeFile()
    try file.write(bytes, at: 0)
    state.withLock { state in
      state.file = file
      state.bytes = []
    }
    return (file, length)
  }

  /// The part of a range that is there.
  func read(_ range: Range<Int>) throws(CacheError) -> [UInt8] {
    let (bytes, file, part) = state.withLock { state -> ([UInt8]?, SpoolFile?, Range<Int>) in
      let part = range.clamped(to: 0..<state.length)
      // Copied under the lock: a second hold on the array would make the next append copy all of it.
      return (state.file == nil ? Array(state.bytes[part]) : nil, state.file, part)
    }
    if let bytes { return bytes }
    guard let file, !part.isEmpty else { return [] }
    return try file.read(part)
  }

  /// The content as an entry, which keeps the spool for as long as it needs it; nothing may be appended any more.
  func entry(_ metadata: CacheMetadata) -> CacheEntry {
    let (bytes, isFile, length) = state.withLock { ($0.bytes, $0.file != nil, $0.length) }
    if isFile {
      return CacheEntry(metadata: metadata, length: length) { (range) throws(CacheError) in try self.read(range) }
    }
    return CacheEntry(metadata: metadata, bytes: bytes.trimmed())
  }
}

extension [UInt8] {
  /// The same bytes without the room that growing has left behind them.
  func trimmed() -> [UInt8] {
    guard capacity - count > 1024 + count / 8 else { return self }
    return unsafe withUnsafeBufferPointer { unsafe Array($0) }
  }
}
