@_spi(Stores) import LarderCore
import LarderStorage
import Synchronization

/// Writes content into a folder: in memory while it is short, then in a file of its own, block by block.
final class FileCacheWriter: CacheWriter {
  private let folder: CacheFolder
  private let session: FolderSession
  private let state: Exclusive<State>

  /// The number of bytes that are sealed before they are written.
  private static let sealedAtOnce = 16 * EntryFile.blockLength

  private struct State {
    var file: FolderSession.File?
    let id: BlobID
    /// The number of bytes in the file: whole blocks until the commit.
    var written = 0
    var marks: BlockMarks
    /// The bytes after those in the file.
    var pending: [UInt8] = []
    var phase = Phase.open

    var length: Int { written + pending.count }
  }

  private enum Phase {
    case open
    case failed(CacheError)
    case committed
  }

  init(_ folder: CacheFolder) throws(CacheError) {
    self.folder = folder
    session = try folder.writable()
    state = Exclusive(State(id: .new(folder.environment), marks: BlockMarks(isSealed: folder.keys != nil)))
  }

  deinit {
    // After a commit the file has another name, and no file has this one.
    if let file = state.run({ $0.file }) { session.remove(file.name) }
  }

  func append(_ bytes: [UInt8]) async throws(CacheError) { try take(bytes) }

  /// Appends bytes.
  func take(_ bytes: [UInt8]) throws(CacheError) {
    try whileOpen { (state) throws(CacheError) in
      guard bytes.count <= folder.limit - state.length else { throw CacheError.tooLarge(limit: folder.limit) }
      try add(bytes, &state)
    }
  }

  /// Runs work on the open content; throws the earlier error if it has failed. An error of the work is the content's end.
  private func whileOpen<Value>(
    _ work: (inout State) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try state.run { (state) throws(CacheError) -> Value in
      switch state.phase {
      case .open: break
      case .failed(let error): throw error
      case .committed: throw CacheError.failed(path: folder.path, reason: "The content has already been committed.")
      }
      do throws(CacheError) {
        if let error = folder.stopError { throw error }
        return try work(&state)
      } catch {
        let error = folder.stopError ?? error
        state.phase = .failed(error)
        throw error
      }
    }
  }

  /// If writing fails, the bytes appended before stay as they are.
  private func add(_ bytes: [UInt8], _ state: inout State) throws(CacheError) {
    if state.file == nil, state.length + bytes.count <= EntryFile.inlineLimit {
      state.pending += bytes
      return
    }
    let block = EntryFile.blockLength
    guard state.pending.count + bytes.count >= block else {
      state.pending += bytes
      return
    }
    var offset = 0
    if !state.pending.isEmpty {
      offset = min(bytes.count, (block - state.pending.count % block) % block)
      let joined = state.pending + bytes[..<offset]
      let blocks = joined.count / block * block
      try write(Array(joined[..<blocks]), &state)
      state.pending = Array(joined[blocks...])
    }
    let whole = (bytes.count - offset) / block * block
    if whole > 0 {
      try write(whole == bytes.count ? bytes : Array(bytes[offset..<offset + whole]), &state)
      offset += whole
    }
    state.pending += bytes[offset...]
  }

  /// Writes blocks at the end of the file; the last of them may be shorter.
  private func write(_ bytes: [UInt8], _ state: inout State) throws(CacheError) {
    // Sealed in pieces, so that long content is not in memory twice.
    let piece = folder.keys == nil ? bytes.count : FileCacheWriter.sealedAtOnce
    for start in stride(from: 0, to: bytes.count, by: max(1, piece)) {
      let part = piece >= bytes.count ? bytes : Array(bytes[start..<min(start + piece, bytes.count)])
      let blocks = try marked(part, &state)
      try folder.checkState()
      do throws(Errno) {
        let file: FolderSession.File
        if let existingFile = state.file { file = existingFile } else { file = try session.makeFile() }
        state.file = file
        try folder.disk.write(file.descriptor.number, blocks, at: state.written)
      } catch {
        throw error.cacheError(folder.path)
      }
      state.written += part.count
    }
  }

  /// Prepares blocks for writing and records their check values. If writing fails, there are too many check values,
  /// which no reader uses.
  private func marked(_ bytes: [UInt8], _ state: inout State) throws(CacheError) -> [UInt8] {
    let starts = stride(from: 0, to: bytes.count, by: EntryFile.blockLength)
    guard let keys = folder.keys else {
      // Every slice is inside the array, here and below.
      unsafe bytes.withUnsafeBytes { raw in
        for start in starts {
          let block = unsafe raw[start..<min(start + EntryFile.blockLength, raw.count)]
          unsafe state.marks.add(UnsafeRawBufferPointer(rebasing: block), of: state.id)
        }
      }
      return bytes
    }
    var sealed = bytes
    let isSealed = unsafe sealed.withUnsafeMutableBytes { raw in
      starts.allSatisfy { start in
        let block = unsafe raw[start..<min(start + EntryFile.blockLength, raw.count)]
        return unsafe state.marks.seal(UnsafeMutableRawBufferPointer(rebasing: block), of: state.id, keys)
      }
    }
    guard isSealed else { throw .failed(path: folder.path, reason: "The platform's cryptography failed.") }
    return sealed
  }

  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    let (content, written, pending) = state.run { state in
      (state.file.map { writtenContent($0, state) }, state.written, state.pending)
    }
    let range = range.clamped(to: 0..<written + pending.count)
    let stored = range.clamped(to: 0..<written)
    var bytes: [UInt8] = []
    // Checked like stored content, because the disk may have changed what was just written.
    if let content, !stored.isEmpty { bytes = try content.read(stored) }
    if range.upperBound > written {
      bytes += pending[(max(range.lowerBound, written) - written)..<(range.upperBound - written)]
    }
    return bytes
  }

  /// The content written so far, for reading.
  private func writtenContent(_ file: FolderSession.File, _ state: State) -> BlobFile {
    BlobFile(
      file.descriptor, disk: folder.disk, path: folder.path, id: state.id, length: state.written, marks: state.marks,
      keys: folder.keys, onDamage: {})
  }

  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    let (entry, leftover) = try finish(metadata, key)
    if let leftover { folder.report(.cleanUpFailed, leftover) }
    while folder.evict(keeping: key) { await Task.yield() }
    return entry
  }

  /// An entry, and why the content of the previous one could not be removed.
  private typealias Published = (entry: CacheEntry, leftover: CacheError?)

  private func finish(_ metadata: CacheMetadata, _ key: String) throws(CacheError) -> Published {
    try whileOpen { (state) throws(CacheError) -> Published in
      let published = try publish(metadata, key, &state)
      state.phase = .committed
      return published
    }
  }

  private func publish(_ metadata: CacheMetadata, _ key: String, _ state: inout State) throws(CacheError) -> Published {
    let name = try folder.name(of: key)
    guard state.file != nil else {
      let bytes = try folder.bytes(
        name, key: key, metadata: metadata, length: state.pending.count, body: .inline(state.pending))
      let leftover = try folder.publish(name, bytes)
      return (CacheEntry(metadata: metadata, bytes: state.pending, tier: .disk), leftover)
    }
    if !state.pending.isEmpty {
      try write(state.pending, &state)
      state.pending = []
    }
    guard let file = state.file else { throw CacheError.gone }
    let bytes = try folder.bytes(
      name, key: key, metadata: metadata, length: state.written, body: .blob(state.id, state.marks))
    if folder.synchronizes {
      do throws(Errno) { try folder.disk.sync(file.descriptor.number) } catch { throw error.cacheError(folder.path) }
    }
    let leftover = try folder.publish(
      name, bytes, blob: PendingContentFile(file: file, id: state.id, length: state.written))
    let blob = BlobFile(
      file.descriptor, disk: folder.disk, path: folder.fullPath(state.id.path(of: name)), id: state.id,
      length: state.written, marks: state.marks, keys: folder.keys,
      onDamage: { [folder, id = state.id] in folder.drop(name, blob: id) })
    return (CacheEntry(metadata: metadata, file: blob), leftover)
  }
}
