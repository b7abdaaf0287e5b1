@_spi(Stores) import LarderCore

/// Content that grows: in memory at first, and past a limit in a temporary file, except for the last part of a chunk.
///
/// Appended bytes never change, so they are read without waiting for bytes that are being written.
final class Spool: Sendable {
  /// The number of bytes that stay in memory by default.
  static let memoryLimit = 256 << 10

  private struct State {
    var file: SpoolFile?
    /// The number of bytes in whole chunks of the file.
    var stored = 0
    /// The bytes after those in the file.
    var bytes: [UInt8] = []
    var length: Int { stored + bytes.count }
  }

  private let memoryLimit: Int
  private let makeFile: @Sendable () throws(CacheError) -> SpoolFile
  private let state = Locked(State())
  /// Held while bytes are written to the file, so that two appends never write to the same place.
  private let appending = Exclusive(())

  init(
    memoryLimit: Int = Spool.memoryLimit,
    makeFile: @escaping @Sendable () throws(CacheError) -> SpoolFile = { () throws(CacheError) in try SpoolFile() }
  ) {
    self.memoryLimit = memoryLimit
    self.makeFile = makeFile
  }

  /// The number of appended bytes.
  var length: Int { state.withLock { $0.length } }

  /// Appends bytes. After an error, the content is as it was before.
  func append(_ bytes: [UInt8]) throws(CacheError) {
    try appending.run { (_) throws(CacheError) in
      let isKept = state.withLock { state in
        let limit = state.file == nil ? memoryLimit : SpoolFile.chunkLength - 1
        guard bytes.count <= limit - state.bytes.count else { return false }
        state.bytes.append(contentsOf: bytes)
        return true
      }
      if isKept { return }
      let (present, stored, buffered) = state.withLock { ($0.file, $0.stored, $0.bytes) }
      let file: SpoolFile
      if let present { file = present } else { file = try makeFile() }
      let all = buffered + bytes
      let whole = all.count / SpoolFile.chunkLength * SpoolFile.chunkLength
      try file.write(all[..<whole], at: stored)
      state.withLock { state in
        state.file = file
        state.stored = stored + whole
        state.bytes = Array(all[whole...])
      }
    }
  }

  /// Reads the part of a range that has been appended.
  func read(_ range: Range<Int>) throws(CacheError) -> [UInt8] {
    let (file, below, above) = state.withLock { state -> (SpoolFile?, Range<Int>, [UInt8]) in
      let part = range.clamped(to: 0..<state.length)
      let above = max(part.lowerBound, state.stored)..<max(part.upperBound, state.stored)
      // Copied under the lock: a second reference to the array would make the next append copy all of it.
      return (
        state.file, part.clamped(to: 0..<state.stored),
        Array(state.bytes[(above.lowerBound - state.stored)..<(above.upperBound - state.stored)])
      )
    }
    guard let file, !below.isEmpty else { return above }
    let stored = try file.read(below)
    return above.isEmpty ? stored : stored + above
  }

  /// The content as an entry, which keeps the spool as long as it needs it. Nothing may be appended any more.
  func entry(_ metadata: CacheMetadata) -> CacheEntry {
    let (bytes, isFile, length) = state.withLock { ($0.bytes, $0.file != nil, $0.length) }
    if isFile {
      return CacheEntry(metadata: metadata, length: length) { (range) throws(CacheError) in try self.read(range) }
    }
    return CacheEntry(metadata: metadata, bytes: bytes.trimmed())
  }
}

extension [UInt8] {
  /// These bytes without the unused capacity that growing has left.
  func trimmed() -> [UInt8] {
    guard capacity - count > 1024 + count / 8 else { return self }
    return unsafe withUnsafeBufferPointer { unsafe Array($0) }
  }
}
