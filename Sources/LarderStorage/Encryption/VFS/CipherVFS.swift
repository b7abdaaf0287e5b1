import CLarderSQLite

/// The VFS of encrypted files: the system's VFS, with a ``FileContent`` between SQLite and each file.
///
/// It only opens files that ``CipherRegistry`` knows, so that nothing is written beside them in plain text.
enum CipherVFS {
  static let name = "larder-cipher"

  /// The system's VFS; nil if it could not be found, or if this one could not be registered.
  //
  // nonisolated(unsafe): written once, before any thread can read it; VFS objects live as long as the process.
  nonisolated(unsafe) static let system: UnsafeMutablePointer<sqlite3_vfs>? = unsafe register()

  /// The name, which lives as long as the process, like the VFS.
  private static var vfsName: UnsafeMutablePointer<CChar> {
    let bytes = Array(name.utf8CString)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    unsafe copy.initialize(from: bytes, count: bytes.count)
    return unsafe copy
  }

  private static func register() -> UnsafeMutablePointer<sqlite3_vfs>? {
    guard let system = unsafe sqlite3_vfs_find(nil) else { return nil }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    // Everything that does not open a file is copied from the system's VFS.
    unsafe vfs.initialize(to: system.pointee)
    unsafe vfs.pointee.pNext = nil
    unsafe vfs.pointee.szOsFile += Int32(CipherIO.realOffset)
    unsafe vfs.pointee.zName = UnsafePointer(vfsName)
    unsafe vfs.pointee.xOpen = { unsafe CipherVFS.open($1, file: $2, flags: $3, outFlags: $4) }
    unsafe vfs.pointee.xAccess = { unsafe CipherVFS.access($1, $2, $3) }
    guard unsafe sqlite3_vfs_register(vfs, 0) == SQLITE_OK else { return nil }
    return unsafe system
  }

  /// A path as the engine names it: absolute, with symbolic links resolved.
  static func fullPath(_ path: String) throws(StorageError) -> String {
    guard let system = unsafe system, let make = unsafe system.pointee.xFullPathname else {
      throw StorageError(.other, message: "SQLite cannot register the VFS for encryption", path: path)
    }
    let capacity = Int(unsafe system.pointee.mxPathname) + 2
    var full = [CChar](repeating: 0, count: capacity)
    // The array has one byte more than the call may write.
    let code = unsafe make(system, path, Int32(capacity - 1), &full)
    guard code & 0xFF == SQLITE_OK else {
      throw StorageError(.cannotOpen, code: code, message: "The path cannot be resolved", path: path)
    }
    return String(decoding: full.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  // MARK: Opening

  private static func open(
    _ name: UnsafePointer<CChar>?, file: UnsafeMutablePointer<sqlite3_file>?, flags: Int32,
    outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system = unsafe system, let open = unsafe system.pointee.xOpen, let file = unsafe file else {
      return SQLITE_CANTOPEN
    }
    // SQLite does not close a file that is not open.
    unsafe file.pointee.pMethods = nil
    let (main, contents) = unsafe contents(name, flags)
    if isPlain(main, contents) { return unsafe open(system, name, file, flags, outFlags) }
    guard flags & scratchKinds != 0 || !contents.isEmpty, flags & journals == 0 || isBeingCreated(contents) else {
      return SQLITE_CANTOPEN
    }
    let real = unsafe CipherIO.real(file)
    unsafe real.file.pointee.pMethods = nil
    let code = unsafe open(system, name, real.file, flags, outFlags)
    guard code == SQLITE_OK else { return code }
    guard let content = content(real, flags, contents) else {
      _ = real.close()
      return SQLITE_BUSY
    }
    unsafe CipherIO.install(content, in: file)
    return SQLITE_OK
  }

  /// Rollback journals. An encrypted file has one only while it is created, and it is not rolled back after a crash.
  private static let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
  private static let scratchKinds =
    SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL

  /// The path of a file's main part, and the contents registered for it.
  private static func contents(
    _ name: UnsafePointer<CChar>?, _ flags: Int32
  ) -> (main: String, contents: [CipherRegistry.Content]) {
    guard let name = unsafe name else { return ("", []) }
    if flags & SQLITE_OPEN_MAIN_DB != 0 {
      let main = unsafe String(cString: name)
      return (main, CipherRegistry.contents(of: main))
    }
    guard flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0, let main = unsafe sqlite3_filename_database(name)
    else { return ("", []) }
    let path = unsafe String(cString: main)
    return (path, CipherRegistry.contents(of: path))
  }

  /// Whether a file is a plain one that is being encrypted: its copy replaces it while it is still registered as plain.
  private static func isPlain(_ main: String, _ contents: [CipherRegistry.Content]) -> Bool {
    let plain = contents.count { if case .plain = $0 { true } else { false } }
    guard plain > 0 else { return false }
    return plain == contents.count || (try? DatabaseFile(main).content()) != .encrypted
  }

  private static func isBeingCreated(_ contents: [CipherRegistry.Content]) -> Bool {
    contents.contains { if case .new = $0 { true } else { false } }
  }

  /// Returns nil if none of the keys is the file's: the file has been replaced since the keys were derived.
  private static func content(_ real: RealFile, _ flags: Int32, _ contents: [CipherRegistry.Content]) -> FileContent? {
    if flags & (scratchKinds | journals) != 0 { return ScratchFile(real) }
    if flags & SQLITE_OPEN_WAL != 0 {
      // The main part was opened before, with the keys that fit it.
      return keys(contents, nil).flatMap { LogFile(real, $0) }
    }
    var size: Int64 = 0
    guard real.size(&size) == SQLITE_OK else { return nil }
    guard size > 0 else {
      for case .new(let keys) in contents { return PageFile(real, keys) }
      return nil
    }
    var start = [UInt8](repeating: 0, count: EncryptedHeader.end)
    let isRead = unsafe start.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      return unsafe real.readWhole(base, bytes.count, at: 0)
    }
    guard isRead, case .header(let header) = EncryptedHeader.read(start) else { return nil }
    return keys(contents, header).flatMap { PageFile(real, $0) }
  }

  /// The keys that were registered last, or those that fit a header if one is given.
  private static func keys(_ contents: [CipherRegistry.Content], _ header: EncryptedHeader?) -> FileKeys? {
    for content in contents {
      switch content {
      case .encrypted(let keys), .new(let keys): if header == nil || keys.header == header { return keys }
      case .plain: break
      }
    }
    return nil
  }

  /// Whether a file exists and can be accessed. An encrypted file has no rollback journal: a file in that place belongs
  /// to another program, and is not rolled back.
  private static func access(
    _ name: UnsafePointer<CChar>?, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system = unsafe system, let access = unsafe system.pointee.xAccess, let name = unsafe name else {
      return IOError.access
    }
    let path = unsafe String(cString: name)
    if flags == SQLITE_ACCESS_EXISTS, path.hasSuffix("-journal") {
      let isEncrypted = CipherRegistry.contents(of: String(path.dropLast(8))).contains { content in
        if case .plain = content { false } else { true }
      }
      if isEncrypted {
        unsafe result?.pointee = 0
        return SQLITE_OK
      }
    }
    return unsafe access(system, name, flags, result)
  }
}
