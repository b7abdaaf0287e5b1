import Synchronization

/// Content on its way into a folder: in memory while it is short, then in a file of its own, block by block.
final class FileCacheWriter: CacheWriter {
  private let folder: CacheFolder
  private let session: FolderSession
  private let state = Mutex(State())

  private struct State {
    var file: FolderSession.File?
    let id = BlobID.random()
    /// The bytes in the file: whole blocks until the commit.
    var written = 0
    var sums: [UInt64] = []
    /// The bytes behind those.
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
  }

  deinit {
    // After a commit the file has another name, and nothing is found under this one.
    state.withLock { if let file = $0.file { session.remove(file.name) } }
  }

  func append(_ bytes: [UInt8]) async throws(CacheError) { try take(bytes) }

  /// Takes in the next bytes.
  func take(_ bytes: [UInt8]) throws(CacheError) {
    try state.withLock { (state) throws(CacheError) in
      switch state.phase {
      case .open: break
      case .failed(let error): throw error
      case .committed: throw CacheError.failed(path: folder.path, reason: "The content was committed already.")
      }
      do throws(CacheError) {
        if folder.isStopped.load(ordering: .relaxed) { throw CacheError.closed }
        guard bytes.count <= folder.limit - state.length else { throw CacheError.tooLarge(limit: folder.limit) }
        try add(bytes, &state)
      } catch {
        state.phase = .failed(error)
        throw error
      }
    }
  }

  /// What was appended before stays as it is where writing fails.
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

  /// Writes blocks at the end of the file, the last of which may be shorter.
  private func write(_ bytes: [UInt8], _ state: inout State) throws(CacheError) {
    do throws(Errno) {
      let file: FolderSession.File
      if let made = state.file { file = made } else { file = try session.makeFile() }
      state.file = file
      try folder.disk.write(file.descriptor.number, bytes, at: state.written)
    } catch {
      throw error.cacheError(folder.path)
    }
    let first = state.sums.count
    // Every slice is inside the array.
    unsafe bytes.withUnsafeBytes { raw in
      for offset in stride(from: 0, to: raw.count, by: EntryFile.blockLength) {
        let block = unsafe raw[offset..<min(offset + EntryFile.blockLength, raw.count)]
        let place = first + offset / EntryFile.blockLength
        state.sums.append(unsafe EntryFile.blockSum(UnsafeRawBufferPointer(rebasing: block), of: state.id, at: place))
      }
    }
    state.written += bytes.count
  }

  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    let (file, written, pending) = state.withLock { ($0.file, $0.written, $0.pending) }
    let range = range.clamped(to: 0..<written + pending.count)
    let stored = range.clamped(to: 0..<written)
    var bytes: [UInt8] = []
    if let file, !stored.isEmpty {
      do throws(Errno) {
        bytes = try folder.disk.read(file.descriptor.number, stored.count, at: stored.lowerBound)
      } catch {
        throw error.cacheError(folder.path)
      }
      guard bytes.count == stored.count else {
        throw CacheError.corrupt(path: folder.path, reason: "a file on its way was cut")
      }
    }
    if range.upperBound > written {
      bytes += pending[(max(range.lowerBound, written) - written)..<(range.upperBound - written)]
    }
    return bytes
  }

  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    let entry = try finish(metadata, key)
    while folder.evict(keeping: key) { await Task.yield() }
    return entry
  }

  private func finish(_ metadata: CacheMetadata, _ key: String) throws(CacheError) -> CacheEntry {
    try state.withLock { (state) throws(CacheError) -> CacheEntry in
      switch state.phase {
      case .open: break
      case .failed(let error): throw error
      case .committed: throw CacheError.failed(path: folder.path, reason: "The content was committed already.")
      }
      do throws(CacheError) {
        if folder.isStopped.load(ordering: .relaxed) { throw CacheError.closed }
        let entry = try publish(metadata, key, &state)
        state.phase = .committed
        return entry
      } catch {
        state.phase = .failed(error)
        throw error
      }
    }
  }

  private func publish(_ metadata: CacheMetadata, _ key: String, _ state: inout State) throws(CacheError) -> CacheEntry
  {
    guard state.file != nil else {
      let bytes = try EntryFile.bytes(
        key: key, metadata: metadata, length: state.pending.count, body: .inline(state.pending))
      try folder.publish(key, bytes)
      return CacheEntry(metadata: metadata, bytes: state.pending, tier: .disk)
    }
    if !state.pending.isEmpty {
      try write(state.pending, &state)
      state.pending = []
    }
    guard let file = state.file else { throw CacheError.gone }
    let bytes = try EntryFile.bytes(
      key: key, metadata: metadata, length: state.written, body: .blob(state.id, sums: state.sums))
    if folder.synchronizes {
      do throws(Errno) { try folder.disk.sync(file.descriptor.number) } catch { throw error.cacheError(folder.path) }
    }
    try folder.publish(key, bytes, blob: BlobOnItsWay(file: file, id: state.id, length: state.written))
    let name = EntryName(key: key, seed: folder.header.seed)
    let blob = BlobFile(
      file.descriptor, disk: folder.disk, path: folder.fullPath(state.id.path(of: name)), id: state.id,
      length: state.written, sums: state.sums, onDamage: { [folder, id = state.id] in folder.drop(name, blob: id) })
    return CacheEntry(metadata: metadata, file: blob)
  }
}
