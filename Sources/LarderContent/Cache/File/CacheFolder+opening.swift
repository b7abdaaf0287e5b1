import LarderStorage

// Reads entries of an encrypted folder: a file is decrypted as a whole.
extension CacheFolder {
  /// Reads the rest of an entry whose beginning was read, and decrypts the entry.
  func readSealed(
    _ file: Int32, name: EntryName, beginning: UnsafeMutableRawBufferPointer, isAll: Bool, key: String,
    keys: FolderKeys
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    let sealedEntry: SealedEntry
    do throws(EntryFile.Damage) {
      sealedEntry = try unsafe SealedEntry(UnsafeRawBufferPointer(beginning))
      if isAll { try sealedEntry.check(size: beginning.count) }
    } catch {
      return .failure(error)
    }
    // The header is there.
    let header = unsafe UnsafeRawBufferPointer(rebasing: beginning[..<EntryFile.headerLength])
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: beginning[EntryFile.headerLength...])
    if isAll { return unsafe open(sealedEntry, header: header, sealed: rest, name: name, key: key, keys: keys) }
    guard sealedEntry.fileLength >= beginning.count, sealedEntry.fileLength <= longestEntryFile else {
      return .failure(EntryFile.Damage(reason: "the file does not have the length in its header"))
    }
    if sealedEntry.blob == nil {
      return try unsafe readInline(
        file, sealedEntry: sealedEntry, header: header, beginning: UnsafeRawBufferPointer(rest), name: name, key: key,
        keys: keys)
    }
    let size = try disk.status(file).size
    do throws(EntryFile.Damage) { try sealedEntry.check(size: size) } catch { return .failure(error) }
    // Freed at the end of this function; nothing of it is kept.
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: sealedEntry.fileLength - EntryFile.headerLength, alignment: 16)
    defer { unsafe buffer.deallocate() }
    guard try unsafe disk.read(file, into: buffer, at: EntryFile.headerLength) == buffer.count else {
      return .failure(EntryFile.Damage(reason: "the file was truncated while it was being read"))
    }
    return unsafe open(sealedEntry, header: header, sealed: buffer, name: name, key: key, keys: keys)
  }

  private func open(
    _ sealedEntry: SealedEntry, header: UnsafeRawBufferPointer, sealed: UnsafeMutableRawBufferPointer,
    name: EntryName,
    key: String, keys: FolderKeys
  ) -> Result<EntryFile?, EntryFile.Damage> {
    do throws(EntryFile.Damage) {
      let raw = UnsafeRawBufferPointer(sealed)
      guard
        let opened = try unsafe opened(sealedEntry, header: header, sealed: sealed, name: name, key: key, keys: keys)
      else { return .success(nil) }
      if let blob = sealedEntry.blob {
        return .success(EntryFile(head: opened.head, body: .blob(blob, opened.head.marks)))
      }
      return .success(unsafe EntryFile(head: opened.head, body: .inline(Array(raw[..<opened.length]))))
    } catch {
      return .failure(error)
    }
  }

  private func opened(
    _ sealedEntry: SealedEntry, header: UnsafeRawBufferPointer, sealed: UnsafeMutableRawBufferPointer,
    name: EntryName,
    key: String, keys: FolderKeys
  ) throws(EntryFile.Damage) -> SealedEntry.Opened? {
    guard unsafe SealedEntry.open(header, first: sealed, second: nil, name: name, keys: keys) else {
      throw EntryFile.Damage(reason: "its header failed its integrity check")
    }
    return try unsafe sealedEntry.opened(header, UnsafeRawBufferPointer(sealed), key: key)
  }

  /// Reads an entry with its content directly into the returned array, and decrypts it there.
  private func readInline(
    _ file: Int32, sealedEntry: SealedEntry, header: UnsafeRawBufferPointer, beginning: UnsafeRawBufferPointer,
    name: EntryName, key: String, keys: FolderKeys
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    let length = sealedEntry.fileLength - EntryFile.headerLength
    guard length <= SealedEntry.lengthsLength + EntryFile.headLimit + EntryFile.inlineLimit else {
      return .failure(EntryFile.Damage(reason: "the header has invalid lengths"))
    }
    var failure: Errno?
    var result: Result<SealedEntry.Opened?, EntryFile.Damage> = .success(nil)
    // One byte more is requested, to detect a file that does not end there.
    let content = unsafe [UInt8](unsafeUninitializedCapacity: length + 1) { target, count in
      // The array has room for this many bytes, and for those that were read before.
      let entryBuffer = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[...length])
      unsafe entryBuffer.copyMemory(from: beginning)
      let missing = unsafe UnsafeMutableRawBufferPointer(rebasing: entryBuffer[beginning.count...])
      do throws(Errno) {
        let start = EntryFile.headerLength + beginning.count
        var read = try unsafe disk.readOnce(file, into: missing, at: start)
        // A shorter read is expected, because the file ends after the content. Less than the content is examined.
        if beginning.count + read < length {
          let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: missing[read...])
          read += try unsafe disk.read(file, into: rest, at: start + read)
        }
        guard beginning.count + read == length else {
          result = .failure(EntryFile.Damage(reason: "the file does not have the length in its header"))
          return
        }
      } catch {
        failure = error
        return
      }
      let sealed = unsafe UnsafeMutableRawBufferPointer(rebasing: entryBuffer[..<length])
      do throws(EntryFile.Damage) {
        guard
          let opened = try unsafe opened(sealedEntry, header: header, sealed: sealed, name: name, key: key, keys: keys)
        else { return }
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
