import CLarderSQLite

/// The I/O methods that SQLite calls on an open file, each passed on to the file's ``FileContent``.
///
/// SQLite allocates a file's memory: it holds the pointer to these methods, then the content, then the system's own
/// file.
enum CipherIO {
  private static let contentOffset = unsafe MemoryLayout<sqlite3_file>.stride
  static let realOffset = unsafe contentOffset + MemoryLayout<UnsafeRawPointer?>.stride

  static func real(_ file: UnsafeMutablePointer<sqlite3_file>) -> RealFile {
    let pointer = unsafe UnsafeMutableRawPointer(file) + realOffset
    return unsafe RealFile(pointer.assumingMemoryBound(to: sqlite3_file.self))
  }

  /// Gives a file its content, which lives until the file is closed.
  static func install(_ content: FileContent, in file: UnsafeMutablePointer<sqlite3_file>) {
    let retained = unsafe Unmanaged.passRetained(content).toOpaque()
    unsafe (UnsafeMutableRawPointer(file) + contentOffset).storeBytes(of: retained, as: UnsafeMutableRawPointer.self)
    let sharesMemory = unsafe real(file).file.pointee.pMethods?.pointee.xShmMap != nil
    unsafe file.pointee.pMethods = UnsafePointer(sharesMemory ? methods : methodsWithoutSharedMemory)
  }

  /// The content of a file that is open with these methods; nil for any other file.
  static func content(_ file: UnsafeMutablePointer<sqlite3_file>?) -> FileContent? {
    guard let file = unsafe file, let calls = unsafe file.pointee.pMethods,
      unsafe calls == UnsafePointer(methods) || calls == UnsafePointer(methodsWithoutSharedMemory)
    else { return nil }
    return unsafe contentReference(file)?.takeUnretainedValue()
  }

  @inline(__always)
  private static func contentReference(_ file: UnsafeMutablePointer<sqlite3_file>) -> Unmanaged<FileContent>? {
    let pointer = unsafe (UnsafeMutableRawPointer(file) + contentOffset).load(as: UnsafeMutableRawPointer?.self)
    return unsafe pointer.map { unsafe Unmanaged<FileContent>.fromOpaque($0) }
  }

  /// Runs `body` with the content, which the file keeps alive meanwhile.
  @inline(__always)
  private static func with(
    _ file: UnsafeMutablePointer<sqlite3_file>?, or failure: Int32, _ body: (FileContent) -> Int32
  ) -> Int32 {
    guard let file = unsafe file, let contentReference = unsafe contentReference(file) else { return failure }
    return unsafe contentReference._withUnsafeGuaranteedRef { body($0) }
  }

  //
  // nonisolated(unsafe): written once, before any thread can read it, and never freed.
  nonisolated(unsafe) private static let methods = unsafe make(sharesMemory: true)
  /// The methods for file systems without locks or shared memory. Apple's SQLite has its own methods for these, and
  /// there a log requires that one connection locks the file. Version 1 tells SQLite so.
  nonisolated(unsafe) private static let methodsWithoutSharedMemory = unsafe make(sharesMemory: false)

  private static func make(sharesMemory: Bool) -> UnsafeMutablePointer<sqlite3_io_methods> {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    var calls = sqlite3_io_methods()
    // Version 2 has no memory map: SQLite never reads pages without calling these methods.
    calls.iVersion = sharesMemory ? 2 : 1
    unsafe calls.xClose = { unsafe CipherIO.close($0) }
    unsafe calls.xRead = { file, bytes, count, offset in
      guard let bytes = unsafe bytes else { return IOError.read }
      return unsafe CipherIO.with(file, or: IOError.read) { unsafe $0.read(bytes, Int(count), at: offset) }
    }
    unsafe calls.xWrite = { file, bytes, count, offset in
      guard let bytes = unsafe bytes else { return IOError.write }
      return unsafe CipherIO.with(file, or: IOError.write) { unsafe $0.write(bytes, Int(count), at: offset) }
    }
    unsafe calls.xTruncate = { file, size in
      unsafe CipherIO.with(file, or: IOError.truncate) { $0.truncate(size) }
    }
    unsafe calls.xSync = { file, flags in unsafe CipherIO.with(file, or: IOError.sync) { $0.sync(flags) } }
    unsafe calls.xFileSize = { file, size in
      guard let size = unsafe size else { return IOError.size }
      return unsafe CipherIO.with(file, or: IOError.size) { unsafe $0.size(&size.pointee) }
    }
    unsafe calls.xFileControl = { file, operation, argument in
      unsafe CipherIO.with(file, or: SQLITE_NOTFOUND) { unsafe $0.control(operation, argument) }
    }
    addLocks(&calls)
    if sharesMemory { addSharedMemory(&calls) }
    unsafe methods.initialize(to: calls)
    return unsafe methods
  }

  private static func addLocks(_ calls: inout sqlite3_io_methods) {
    unsafe calls.xLock = { file, level in
      unsafe CipherIO.with(file, or: IOError.lock) { content in
        content.lockChanges()
        return content.real.lock(level)
      }
    }
    unsafe calls.xUnlock = { file, level in
      unsafe CipherIO.with(file, or: IOError.unlock) { content in
        content.lockChanges()
        return content.real.unlock(level)
      }
    }
    unsafe calls.xCheckReservedLock = { file, result in
      unsafe CipherIO.with(file, or: IOError.checkReservedLock) { content in
        let real = unsafe content.real.file
        return unsafe real.pointee.pMethods?.pointee.xCheckReservedLock?(real, result) ?? IOError.checkReservedLock
      }
    }
    unsafe calls.xSectorSize = { file in unsafe CipherIO.with(file, or: 4096) { $0.real.sectorSize } }
    // A write changes no byte beside its own, so that frames are written completely; no write is atomic together with
    // others.
    unsafe calls.xDeviceCharacteristics = { file in
      unsafe CipherIO.with(file, or: 0) { content in
        content.real.characteristics & (SQLITE_IOCAP_IMMUTABLE | SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN)
          | SQLITE_IOCAP_POWERSAFE_OVERWRITE
      }
    }
  }

  private static func addSharedMemory(_ calls: inout sqlite3_io_methods) {
    unsafe calls.xShmMap = { file, region, size, extends, memory in
      unsafe CipherIO.with(file, or: IOError.sharedMap) { content in
        let real = unsafe content.real.file
        return unsafe real.pointee.pMethods?.pointee.xShmMap?(real, region, size, extends, memory)
          ?? IOError.sharedMap
      }
    }
    unsafe calls.xShmLock = { file, offset, count, flags in
      unsafe CipherIO.with(file, or: IOError.sharedLock) { content in
        content.lockChanges()
        let real = unsafe content.real.file
        return unsafe real.pointee.pMethods?.pointee.xShmLock?(real, offset, count, flags) ?? IOError.sharedLock
      }
    }
    unsafe calls.xShmBarrier = { file in
      _ = unsafe CipherIO.with(file, or: 0) { content in
        let real = unsafe content.real.file
        unsafe real.pointee.pMethods?.pointee.xShmBarrier?(real)
        return 0
      }
    }
    unsafe calls.xShmUnmap = { file, deletes in
      unsafe CipherIO.with(file, or: SQLITE_OK) { content in
        let real = unsafe content.real.file
        return unsafe real.pointee.pMethods?.pointee.xShmUnmap?(real, deletes) ?? SQLITE_OK
      }
    }
  }

  private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file = unsafe file, let contentReference = unsafe contentReference(file) else { return IOError.close }
    let content = unsafe contentReference.takeRetainedValue()
    let code = content.finish()
    let closed = content.real.close()
    unsafe file.pointee.pMethods = nil
    unsafe (UnsafeMutableRawPointer(file) + contentOffset).storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
    return code == SQLITE_OK ? closed : code
  }
}
