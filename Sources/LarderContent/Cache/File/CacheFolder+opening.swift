import LarderStorage

// Reads entries of an encrypted folder: a file is decrypted as a whole.
extension CacheFolder {
  /// Reads the rest of an entry whose beginning was read, and decrypts the entry.
  func readSealed(
    _ file: Int32, _ name: EntryName, _ begun: UnsafeMutableRawBufferPointer, isAll: Bool, _ key: String,
    _ keys: FolderKeys
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    let found: SealedEntry
    do throws(EntryFile.Damage) {
      found = try unsafe SealedEntry(UnsafeRawBufferPointer(begun))
      if isAll { try found.check(size: begun.count) }
    } catch {
      return .failure(error)
    }
    // The header is there.
    let header = unsafe UnsafeRawBufferPointer(rebasing: begun[..<EntryFile.headerLength])
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: begun[EntryFile.headerLength...])
    if isAll { return unsafe open(found, header, rest, name, key, keys) }
    guard found.fileLength >= begun.count, found.fileLength <= longestEntryFile else {
      return .failure(EntryFile.Damage(reason: "the file does not have the length in its header"))
    }
    if found.blob == nil {
      return try unsafe readInline(file, found, header, UnsafeRawBufferPointer(rest), name, key, keys)
    }
    let size = try disk.status(file).size
    do throws(EntryFile.Damage) { try found.check(size: size) } catch { return .failure(error) }
    // Freed at the end of this function; nothing of it is kept.
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: found.fileLength - EntryFile.headerLength, alignment: 16)
    defer { unsafe buffer.deallocate() }
    guard try unsafe disk.read(file, into: buffer, at: EntryFile.headerLength) == buffer.count else {
      return .failure(EntryFile.Damage(reason: "the file was truncated while it was being read"))
    }
    return unsafe open(found, header, buffer, name, key, keys)
  }

  private func open(
    _ found: SealedEntry, _ header: UnsafeRawBufferPointer, _ sealed: UnsafeMutableRawBufferPointer, _ name: EntryName,
    _ key: String, _ keys: FolderKeys
  ) -> Result<EntryFile?, EntryFile.Damage> {
    do throws(EntryFile.Damage) {
      let raw = UnsafeRawBufferPointer(sealed)
      guard let opened = try unsafe opened(found, header, sealed, name, key, keys) else { return .success(nil) }
      if let blob = found.blob { return .success(EntryFile(head: opened.head, body: .blob(blob, opened.head.marks))) }
      return .success(unsafe EntryFile(head: opened.head, body: .inline(Array(raw[..<opened.length]))))
    } catch {
      return .failure(error)
    }
  }

  private func opened(
    _ found: SealedEntry, _ header: UnsafeRawBufferPointer, _ sealed: UnsafeMutableRawBufferPointer, _ name: EntryName,
    _ key: String, _ keys: FolderKeys
  ) throws(EntryFile.Damage) -> SealedEntry.Opened? {
    guard unsafe SealedEntry.open(header, sealed, nil, name, keys) else {
      throw EntryFile.Damage(reason: "its header failed its integrity check")
    }
    return try unsafe found.opened(header, UnsafeRawBufferPointer(sealed), key: key)
  }

  /// Reads an entry with its content directly into the returned array, and decrypts it there.
  private func readInline(
    _ file: Int32, _ found: SealedEntry, _ header: UnsafeRawBufferPointer, _ begun: UnsafeRawBufferPointer,
    _ name: EntryName, _ key: String, _ keys: FolderKeys
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    let length = found.fileLength - EntryFile.headerLength
    guard length <= SealedEntry.lengthsLength + EntryFile.headLimit + EntryFile.inlineLimit else {
      return .failure(EntryFile.Damage(reason: "the header has invalid lengths"))
    }
    var failure: Errno?
    var result: Result<SealedEntry.Opened?, EntryFile.Damage> = .success(nil)
    // One byte more is requested, to detect a file that does not end there.
    let content = unsafe [UInt8](unsafeUninitializedCapacity: length + 1) { target, count in
      // The array has room for this many bytes, and for those that were read before.
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[...length])
      unsafe room.copyMemory(from: begun)
      let missing = unsafe UnsafeMutableRawBufferPointer(rebasing: room[begun.count...])
      do throws(Errno) {
        let start = EntryFile.headerLength + begun.count
        var read = try unsafe disk.readOnce(file, into: missing, at: start)
        // A shorter read is expected, because the file ends after the content. Less than the content is examined.
        if begun.count + read < length {
          let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: missing[read...])
          read += try unsafe disk.read(file, into: rest, at: start + read)
        }
        guard begun.count + read == length else {
          result = .failure(EntryFile.Damage(reason: "the file does not have the length in its header"))
          return
        }
      } catch {
        failure = error
        return
      }
      let sealed = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<length])
      do throws(EntryFile.Damage) {
        guard let opened = try unsafe opened(found, header, sealed, name, key, keys) else { return }
        // The other data that was sealed with the content follows it.
        count = opened.length
        result = .success(opened)
      } catch {
        result = .failure(error)
      }
    }
    if let failure { throw failure }
    return result.map { opened in opened.map { EntryFile(head: $0.head, body: .inline(content)) } }
  }
}
